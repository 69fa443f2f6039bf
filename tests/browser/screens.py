"""What tests in a browser share beside their fixtures."""

from sparsedensity.report import words

DESKTOP, PHONE = (1280, 900), (390, 844)


def rgb(colour):
    """The three numbers of a computed colour."""
    return [int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]


def names_the_best_change(answer, explained):
    """Hold what a page says of the best single change against the model's explanation."""
    if explained.change is None:
        assert "Changing one value would not" in answer
    else:
        assert f"with {explained.change.column} {explained.change.value.split(' or ')[0]}" in answer
        assert f"{words.sayable(explained.change.gain)} times as common" in answer
