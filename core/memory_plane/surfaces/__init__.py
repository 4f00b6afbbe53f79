"""What people and agents touch: command line, MCP, HTTP; thin, with no logic of their own."""
