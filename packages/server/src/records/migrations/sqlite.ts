/** The schema of SQLite, one string a version, run in order and never edited once released. */
export const SQLITE_MIGRATIONS: readonly string[] = [
  `
  CREATE TABLE instances (
    id TEXT PRIMARY KEY,
    started_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- One row for every content that was ever staged; place says where its bytes are now. Other tables refer to it by its
  -- number, which grows, so that an upload adds to the ends of their indexes and not all over them.
  -- inline comes last so that reading the other columns never touches its overflow pages.
  CREATE TABLE objects (
    id INTEGER PRIMARY KEY,
    sha256 TEXT NOT NULL UNIQUE,
    size_bytes INTEGER NOT NULL,
    place TEXT NOT NULL CHECK (place IN ('inline', 'blob', 'none')),
    inline BLOB
  ) STRICT;

  -- Opaque ids keep the bytes they were first bound to, whatever happens to the files.
  CREATE TABLE names (
    name TEXT PRIMARY KEY,
    object INTEGER NOT NULL REFERENCES objects (id)
  ) STRICT, WITHOUT ROWID;

  -- Rows are never deleted, so sequence grows. name is the opaque id, and empty for ids that are verified.
  CREATE TABLE files (
    sequence INTEGER PRIMARY KEY,
    object INTEGER NOT NULL REFERENCES objects (id),
    principal TEXT NOT NULL,
    name TEXT NOT NULL,
    cid TEXT NOT NULL,
    content_type TEXT NOT NULL,
    filename TEXT,
    visibility TEXT NOT NULL CHECK (visibility IN ('public', 'private')),
    owner TEXT,
    sponsored INTEGER NOT NULL,
    verified INTEGER NOT NULL,
    term_days INTEGER NOT NULL,
    uploaded_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ended_at INTEGER,
    end TEXT CHECK (end IN ('expired', 'removed')),
    deal_id TEXT NOT NULL,
    charged_day TEXT NOT NULL,
    charged_bytes INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX files_one_live ON files (principal, object, name) WHERE ended_at IS NULL;
  CREATE INDEX files_by_principal ON files (principal, sequence);
  CREATE INDEX files_by_object ON files (object, sequence);
  CREATE INDEX files_by_expiry ON files (expires_at) WHERE ended_at IS NULL;

  CREATE TABLE usage (
    principal TEXT NOT NULL,
    day TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    files INTEGER NOT NULL,
    PRIMARY KEY (principal, day)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE reservations (
    id TEXT PRIMARY KEY,
    instance TEXT NOT NULL,
    principal TEXT NOT NULL,
    day TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    cap_bytes INTEGER NOT NULL,
    lease_until INTEGER NOT NULL,
    claimed_sha256 TEXT
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX reservations_by_principal ON reservations (principal, day, bytes);

  CREATE TABLE discards (
    sha256 TEXT PRIMARY KEY,
    created_at INTEGER NOT NULL,
    instance TEXT
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE tokens (
    jti TEXT PRIMARY KEY,
    sub TEXT NOT NULL,
    email TEXT NOT NULL,
    label TEXT NOT NULL,
    scopes TEXT NOT NULL,
    quota_mb INTEGER NOT NULL,
    issued_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    last_used_at INTEGER,
    revoked_at INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX tokens_by_user ON tokens (sub, issued_at);

  CREATE TABLE signups (
    address TEXT NOT NULL,
    hour INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (address, hour)
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- A column behind inline costs a read of all its overflow pages, so inline has to come last again: new bytes go into a
  -- new column, and those of before stay where they are until something is learned about them.
  ALTER TABLE objects RENAME COLUMN inline TO inline_v1;
  -- 32 bytes. NULL for what was staged before and not since, which goes for piece_subtrees as well; that is also NULL for
  -- a piece of one subtree.
  ALTER TABLE objects ADD COLUMN piece_root BLOB;
  ALTER TABLE objects ADD COLUMN piece_subtrees BLOB;
  ALTER TABLE objects ADD COLUMN inline BLOB;
  -- Bytes of many sizes can have one root, but those of one root and one size are the same. A piece-v1 key means the first
  -- object of its root; where older bytes turn out later to have that root, names keeps the key where it was.
  -- The index holds the head of the root alone: it is touched all over by every upload, so its pages must be few.
  CREATE INDEX objects_by_piece ON objects (substr(piece_root, 1, 6)) WHERE piece_root IS NOT NULL;

  -- Names that verification found. Rows are never deleted, so that a name of bytes that are gone is not an unknown one.
  -- since is the sequence that the next file had when the name was found: what came first stays the first choice.
  CREATE TABLE aliases (
    key TEXT NOT NULL,
    object INTEGER NOT NULL REFERENCES objects (id),
    view TEXT NOT NULL CHECK (view IN ('bytes', 'unixfs', 'car')),
    since INTEGER NOT NULL,
    PRIMARY KEY (key, object, view)
  ) STRICT, WITHOUT ROWID;

  -- Blocks that an object's bytes hold. layout is the name of an import profile, or car. digests has 32 bytes for every
  -- block of an import and is NULL for a CAR. object is NULL from when its bytes are gone until the blocks are swept.
  CREATE TABLE dags (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    object INTEGER REFERENCES objects (id),
    layout TEXT NOT NULL,
    digests BLOB,
    UNIQUE (object, layout)
  ) STRICT;

  -- One row for every block that differs from the others of its dag; node is the number of the first that is like it.
  -- offset_bytes and length_bytes say where a CAR has the data, and are NULL for an import. dag refers to dags without a
  -- foreign key: its rows go after the one that they refer to is cut off, a few at a time.
  CREATE TABLE blocks (
    multihash BLOB NOT NULL,
    dag INTEGER NOT NULL,
    node INTEGER NOT NULL,
    offset_bytes INTEGER,
    length_bytes INTEGER,
    PRIMARY KEY (multihash, dag)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX blocks_by_dag ON blocks (dag);
  `,
  `
  -- An object that was composed has the bytes of its parts, one behind the other, and no blob of its own, though its place
  -- is blob like theirs. Its rows are here as long as its bytes are kept, and its parts are never composed ones themselves.
  -- While nobody has read it as a whole, objects.sha256 has its piece key, which no digest can be taken for.
  CREATE TABLE parts (
    whole INTEGER NOT NULL REFERENCES objects (id),
    position INTEGER NOT NULL,
    part INTEGER NOT NULL REFERENCES objects (id),
    PRIMARY KEY (whole, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX parts_by_part ON parts (part);

  -- The file that a part was composed into. Such a part has ended as removed, since a CHECK cannot be widened.
  ALTER TABLE files ADD COLUMN composed_into INTEGER REFERENCES files (sequence);

  -- The head of the deal alone, since every upload adds one somewhere in the middle.
  CREATE INDEX files_by_deal ON files (substr(deal_id, 1, 12));
  `,
  `
  -- Codes of signup by email that wait for their answer. id and code_digest are digests keyed by what only the caller
  -- holds, so that who reads this table can answer none of them.
  CREATE TABLE challenges (
    id TEXT PRIMARY KEY,
    email TEXT NOT NULL,
    label TEXT NOT NULL,
    code_digest TEXT NOT NULL,
    attempts_left INTEGER NOT NULL,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX challenges_by_expiry ON challenges (expires_at);
  `,
]
