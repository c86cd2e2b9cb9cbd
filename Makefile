# Every target is a command of do.py, which needs no make.
PYTHON ?= python3

.PHONY: demo test lint bench docs
demo test lint bench docs:
	$(PYTHON) do.py $@
