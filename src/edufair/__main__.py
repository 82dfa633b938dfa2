"""`python -m edufair`: the command line."""

from edufair.cli import main

if __name__ == "__main__":
    main()
