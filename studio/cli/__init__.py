"""Parts of the command line that `app.py` joins; each group of commands in its own module."""
