"""Look at an instance from outside and say what is wrong with it and what to do."""
