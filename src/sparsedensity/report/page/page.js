// A picture that is not shown cannot be measured: it is prepared when its turn comes.
const pictures = new Map();
const prepare = () => {
  for (const svg of document.querySelectorAll("svg[data-row]")) {
    if (!pictures.has(svg) && svg.getBoundingClientRect().width > 0) pictures.set(svg, new Picture(svg));
  }
};
prepare();
window.addEventListener("resize", prepare);
window.addEventListener("beforeprint", prepare);
for (const button of document.querySelectorAll("button[data-do]")) {
  button.addEventListener("click", () => pictures.forEach((picture) => picture.foldAll(button.dataset.do === "fold")));
}
document.querySelector(".tools").hidden = ![...pictures.values()].some((picture) => picture.folds);
buildForm();
