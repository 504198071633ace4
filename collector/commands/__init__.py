"""Hold the subcommands of the command line, one file each."""
