"""Sessions: their requests, the records to come back by, the listing of them, their history and their updates."""
