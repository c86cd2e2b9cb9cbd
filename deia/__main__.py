"""`python -m deia` is the command line."""

from deia.serve.main import main

if __name__ == "__main__":
    main()
