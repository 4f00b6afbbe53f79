"""All SQL that writes, one noun a file."""
