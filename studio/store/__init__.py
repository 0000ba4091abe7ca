"""The database: tables, unit of work, migrations."""
