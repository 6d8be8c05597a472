xattr -l ./Tool.app
