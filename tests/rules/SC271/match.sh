xattr -d com.apple.quarantine ./Tool.app
