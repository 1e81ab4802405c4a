"""What punt raises, besides what callbacks raise themselves."""


class Error(Exception):
    """Either of the two below. One line that names the offending thing."""


class InputError(Error, ValueError):
    """Bad input: an option, a prompt, a file, what a class of one's own returned."""


class FailedError(Error, RuntimeError):
    """The work failed: a disk that is full, a device that was lost."""
