"""Run the command line: `python -m swapmodel`."""

from swapmodel.cli import main

if __name__ == "__main__":
    main()
