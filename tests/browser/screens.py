"""What tests in a browser share beside their fixtures."""

DESKTOP, PHONE = (1280, 900), (390, 844)


def rgb(colour):
    """The three numbers of a computed colour."""
    return [int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]]
