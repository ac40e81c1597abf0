"""Results for people: figures and spreadsheets."""
