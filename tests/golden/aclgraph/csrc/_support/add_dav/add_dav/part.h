// of add_dav
