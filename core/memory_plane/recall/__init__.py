"""All SQL that reads."""
