"""What is made of results for people: figures, and later reports and spreadsheets."""
