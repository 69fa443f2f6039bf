"""What the methods are called, in every study alike."""

LEAF = "Leaf-sparse tree"
BRANCH = "Branch-sparse tree"
LIST = "Rule list"
DET = "DET for categories"
HISTOGRAM = "Full histogram"
MLPACK = "mlpack's DET"
