/** The most entries of one build, and changes of one request. 100,000 names of 50 bytes make 11 MB of directory blocks. */
export const MAX_DIRECTORY_ENTRIES = 100_000

/** The most names in a path: folders that lie in each other, and the entry in the last of them. */
export const MAX_DIRECTORY_DEPTH = 64

/** What common file systems take for one name (NAME_MAX), in bytes of UTF-8. */
export const MAX_ENTRY_NAME_BYTES = 255

/** What Linux takes for the target of a symlink (PATH_MAX without its NUL), in bytes of UTF-8. */
export const MAX_SYMLINK_TARGET_BYTES = 4095
