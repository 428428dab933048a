// of add
