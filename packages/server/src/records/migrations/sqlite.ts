/**
 * A process of this version and one of a version whose schema is older than this do not run beside each other: none may live when the
 * schema comes to this.
 */
export const SQLITE_ALONE_FROM = 35

/** Counts a change of what is found under a key: in triggers, and where a file is added. Never edited, as the schema that has it. */
export const COUNT_SERVING_CHANGE = `INSERT INTO marks (name, value) VALUES ('serving', '1')
  ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT)`

/** A trigger that counts a change of what is found under a key. */
function servingChanged(by: string, when: string): string {
  return `CREATE TRIGGER serving_changed_by_${by} ${when} BEGIN
    ${COUNT_SERVING_CHANGE};
  END;`
}

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
  `
  -- What is handed to provers as one: bytes of an object from an offset on, or, without an object, an aggregate of small files.
  CREATE TABLE pieces (
    id INTEGER PRIMARY KEY,
    object INTEGER REFERENCES objects (id),
    offset_bytes INTEGER NOT NULL,
    size_bytes INTEGER NOT NULL,
    piece_root BLOB NOT NULL,
    -- When somebody should look whether its copies are as they are wanted; NULL when they are. revision grows with every
    -- settlement and with every change that has to be settled, so that none is taken for settled unseen.
    unsettled_at INTEGER,
    revision INTEGER NOT NULL,
    -- How many copies the last settlement found wanted, and whether fewer provers have it than that.
    wanted INTEGER NOT NULL,
    is_short INTEGER NOT NULL,
    -- Where the copies by themselves would have a deal stand. failure is why no prover was left to ask, until one is asked again.
    status TEXT NOT NULL CHECK (status IN ('staged', 'proposed', 'active', 'failed')),
    failure TEXT
  ) STRICT;
  CREATE INDEX pieces_by_root ON pieces (substr(piece_root, 1, 6));
  CREATE INDEX pieces_by_object ON pieces (object, offset_bytes) WHERE object IS NOT NULL;
  CREATE INDEX pieces_unsettled ON pieces (unsettled_at) WHERE unsettled_at IS NOT NULL;
  CREATE INDEX pieces_short ON pieces (id) WHERE is_short = 1;

  -- The deal of one file. waits is 1 for a small file until it is in an aggregate. status is that of a live file; closed_at
  -- is set when the file ends.
  CREATE TABLE deals (
    file INTEGER PRIMARY KEY REFERENCES files (sequence),
    copies_wanted INTEGER NOT NULL,
    status TEXT NOT NULL CHECK (status IN ('staged', 'proposed', 'active', 'failed')),
    status_at INTEGER NOT NULL,
    cause TEXT,
    waits INTEGER NOT NULL,
    closed_at INTEGER
  ) STRICT;
  CREATE INDEX deals_waiting ON deals (file) WHERE waits = 1 AND closed_at IS NULL;
  CREATE INDEX deals_by_status ON deals (status) WHERE closed_at IS NULL;

  -- object and offset_bytes say where this deal has the bytes of the piece, which stay there when those of pieces.object
  -- are gone. In an aggregate both are NULL, and padded_offset_bytes is not.
  CREATE TABLE deal_pieces (
    file INTEGER NOT NULL REFERENCES deals (file),
    position INTEGER NOT NULL,
    piece INTEGER NOT NULL REFERENCES pieces (id),
    padded_offset_bytes INTEGER,
    object INTEGER REFERENCES objects (id),
    offset_bytes INTEGER,
    PRIMARY KEY (file, position)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX deal_pieces_by_piece ON deal_pieces (piece);
  CREATE INDEX deal_pieces_in_objects ON deal_pieces (piece) WHERE object IS NOT NULL;

  -- What an aggregate is made of, for as long as it may have to be made again.
  CREATE TABLE aggregate_members (
    piece INTEGER NOT NULL REFERENCES pieces (id),
    padded_offset_bytes INTEGER NOT NULL,
    object INTEGER NOT NULL REFERENCES objects (id),
    PRIMARY KEY (piece, padded_offset_bytes)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE copies (
    id INTEGER PRIMARY KEY,
    piece INTEGER NOT NULL REFERENCES pieces (id),
    prover TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('pending', 'parked', 'adding', 'stored', 'failed', 'released')),
    attempts INTEGER NOT NULL,
    next_at INTEGER NOT NULL,
    data_set_id TEXT,
    piece_id TEXT,
    parked_at INTEGER,
    stored_at INTEGER,
    proved_at INTEGER,
    retrievable_at INTEGER,
    ended_at INTEGER,
    cause TEXT,
    -- 1 while a released copy still has to be taken out of its prover's data set.
    to_remove INTEGER NOT NULL,
    -- 1 once a deal on the chain was queued for it.
    onchain INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX copies_one_live ON copies (piece, prover) WHERE ended_at IS NULL;
  CREATE INDEX copies_by_piece ON copies (piece);
  CREATE INDEX copies_due ON copies (state, next_at) WHERE ended_at IS NULL;
  CREATE INDEX copies_by_prover ON copies (prover, state, next_at);
  CREATE INDEX copies_to_remove ON copies (next_at) WHERE to_remove = 1 AND piece_id IS NOT NULL;
  CREATE INDEX copies_to_queue ON copies (prover, id)
    WHERE onchain = 0 AND ended_at IS NULL AND state IN ('parked', 'adding', 'stored');

  -- Only those under way. A number is never used again, so that a late answer meets no other addition.
  CREATE TABLE additions (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    prover TEXT NOT NULL,
    nonce TEXT NOT NULL,
    data_set_id TEXT,
    tx TEXT,
    attempts INTEGER NOT NULL,
    next_at INTEGER NOT NULL
  ) STRICT;

  -- The copies of an addition in the order of the call. One that ends meanwhile keeps its place.
  CREATE TABLE addition_copies (
    addition INTEGER NOT NULL REFERENCES additions (id),
    position INTEGER NOT NULL,
    copy INTEGER NOT NULL REFERENCES copies (id),
    PRIMARY KEY (addition, position)
  ) STRICT, WITHOUT ROWID;

  -- The data set that pieces at a prover are added to.
  CREATE TABLE data_sets (
    prover TEXT PRIMARY KEY,
    data_set_id TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE audits (
    id INTEGER PRIMARY KEY,
    copy INTEGER NOT NULL REFERENCES copies (id),
    at INTEGER NOT NULL,
    seed TEXT NOT NULL,
    passed INTEGER NOT NULL,
    cause TEXT,
    proof TEXT
  ) STRICT;
  CREATE INDEX audits_by_copy ON audits (copy, id);

  CREATE TABLE offers (
    id TEXT PRIMARY KEY,
    piece_root BLOB NOT NULL,
    size_bytes INTEGER NOT NULL,
    -- A handle, since the bytes may be nobody's file yet.
    object TEXT NOT NULL,
    offset_bytes INTEGER NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX offers_by_piece ON offers (substr(piece_root, 1, 6));
  CREATE INDEX offers_by_time ON offers (until);

  CREATE TABLE leases (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    until INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- How far something has been read, such as files for enrolment.
  CREATE TABLE cursors (
    name TEXT PRIMARY KEY,
    value INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- Transactions of the operator's account, recorded before they are sent.
  CREATE TABLE transactions (
    id INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    nonce INTEGER NOT NULL,
    call TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('open', 'mined', 'confirmed', 'final')),
    succeeded INTEGER,
    block_number INTEGER,
    block_hash TEXT,
    created_at INTEGER NOT NULL,
    UNIQUE (account, nonce)
  ) STRICT;
  CREATE INDEX transactions_unsettled ON transactions (account, nonce) WHERE state <> 'final';

  CREATE TABLE transaction_attempts (
    tx INTEGER NOT NULL REFERENCES transactions (id),
    position INTEGER NOT NULL,
    hash TEXT NOT NULL,
    raw TEXT NOT NULL,
    max_fee_per_gas TEXT NOT NULL,
    max_priority_fee_per_gas TEXT NOT NULL,
    signed_at INTEGER NOT NULL,
    PRIMARY KEY (tx, position)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE onchain_deals (
    copy INTEGER PRIMARY KEY REFERENCES copies (id),
    state TEXT NOT NULL CHECK (state IN ('queued', 'proposing', 'confirmed', 'final', 'failed')),
    tx INTEGER REFERENCES transactions (id),
    position INTEGER,
    onchain_id TEXT,
    ends_at INTEGER,
    -- How often a transaction that proposed it was taken into a block and undone.
    reverts INTEGER NOT NULL,
    -- The transaction that extends it, while that is not settled, and the end that it will have then.
    extension_tx INTEGER REFERENCES transactions (id),
    extension_ends_at INTEGER,
    extension_failures INTEGER NOT NULL,
    extension_failed_at INTEGER
  ) STRICT;
  CREATE INDEX onchain_deals_queued ON onchain_deals (state, copy) WHERE state = 'queued';
  CREATE INDEX onchain_deals_by_tx ON onchain_deals (tx) WHERE tx IS NOT NULL;
  CREATE INDEX onchain_deals_by_extension ON onchain_deals (extension_tx) WHERE extension_tx IS NOT NULL;
  CREATE INDEX onchain_deals_by_id ON onchain_deals (onchain_id) WHERE onchain_id IS NOT NULL;
  CREATE INDEX onchain_deals_by_end ON onchain_deals (ends_at) WHERE state = 'final';

  -- Nonces that wallets have used, and those that were handed out for a sign-in (account is empty) and wait for it.
  CREATE TABLE nonces (
    account TEXT NOT NULL,
    nonce TEXT NOT NULL,
    until INTEGER NOT NULL,
    PRIMARY KEY (account, nonce)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX nonces_by_time ON nonces (until);
  `,
  `
  -- How often the lease went to another holder.
  ALTER TABLE leases ADD COLUMN fence INTEGER NOT NULL DEFAULT 0;

  -- How far jobs have got that go on and on.
  CREATE TABLE marks (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;

  -- What processes on several machines have to know alike.
  CREATE TABLE secrets (
    name TEXT PRIMARY KEY,
    value TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- Files that have not ended, so that who asks for those passes none of the others, of which there are ever more.
  -- ended_at is in it only so that files can be counted by the index alone.
  CREATE INDEX files_live_by_principal ON files (principal, sequence, ended_at) WHERE ended_at IS NULL;
  CREATE INDEX files_live_by_object ON files (object, sequence) WHERE ended_at IS NULL;

  -- Of the files that were charged to this day, those that have not ended. A composed file counts on the day on which it was
  -- recorded, though nothing was charged for it, and a day may have a row for that alone.
  ALTER TABLE usage ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage ADD COLUMN stored_files INTEGER NOT NULL DEFAULT 0;
  INSERT INTO usage (principal, day, bytes, files, stored_bytes, stored_files)
    SELECT principal, charged_day, 0, 0,
      SUM(CASE WHEN charged_bytes > 0 THEN charged_bytes ELSE (SELECT size_bytes FROM objects WHERE id = object) END), COUNT(*)
    FROM files WHERE ended_at IS NULL GROUP BY principal, charged_day
    ON CONFLICT (principal, day) DO UPDATE SET stored_bytes = excluded.stored_bytes, stored_files = excluded.stored_files;
  `,
  `
  -- How many copies there are at a prover in a state, and how many open deals in a status, kept by triggers so that nobody has to count
  -- rows, and nobody can forget to. In up to 64 rows each, by the piece or the file, so that writers on another engine do not all
  -- wait for one.
  CREATE TABLE copy_counts (
    prover TEXT NOT NULL,
    state TEXT NOT NULL,
    shard INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (prover, state, shard)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO copy_counts (prover, state, shard, count)
    SELECT prover, state, piece % 64, COUNT(*) FROM copies GROUP BY prover, state, piece % 64;
  CREATE TRIGGER copies_counted AFTER INSERT ON copies BEGIN
    INSERT INTO copy_counts (prover, state, shard, count) VALUES (NEW.prover, NEW.state, NEW.piece % 64, 1)
      ON CONFLICT (prover, state, shard) DO UPDATE SET count = count + 1;
  END;
  CREATE TRIGGER copies_counted_anew AFTER UPDATE OF state ON copies WHEN OLD.state <> NEW.state BEGIN
    UPDATE copy_counts SET count = count - 1 WHERE prover = OLD.prover AND state = OLD.state AND shard = OLD.piece % 64;
    INSERT INTO copy_counts (prover, state, shard, count) VALUES (NEW.prover, NEW.state, NEW.piece % 64, 1)
      ON CONFLICT (prover, state, shard) DO UPDATE SET count = count + 1;
  END;

  CREATE TABLE deal_counts (
    status TEXT NOT NULL,
    waits INTEGER NOT NULL,
    shard INTEGER NOT NULL,
    count INTEGER NOT NULL,
    PRIMARY KEY (status, waits, shard)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO deal_counts (status, waits, shard, count)
    SELECT status, waits, file % 64, COUNT(*) FROM deals WHERE closed_at IS NULL GROUP BY status, waits, file % 64;
  CREATE TRIGGER deals_counted AFTER INSERT ON deals WHEN NEW.closed_at IS NULL BEGIN
    INSERT INTO deal_counts (status, waits, shard, count) VALUES (NEW.status, NEW.waits, NEW.file % 64, 1)
      ON CONFLICT (status, waits, shard) DO UPDATE SET count = count + 1;
  END;
  CREATE TRIGGER deals_counted_out AFTER UPDATE OF status, waits, closed_at ON deals
  WHEN OLD.closed_at IS NULL AND (NEW.closed_at IS NOT NULL OR OLD.status <> NEW.status OR OLD.waits <> NEW.waits) BEGIN
    UPDATE deal_counts SET count = count - 1 WHERE status = OLD.status AND waits = OLD.waits AND shard = OLD.file % 64;
  END;
  CREATE TRIGGER deals_counted_anew AFTER UPDATE OF status, waits, closed_at ON deals
  WHEN NEW.closed_at IS NULL AND (OLD.closed_at IS NOT NULL OR OLD.status <> NEW.status OR OLD.waits <> NEW.waits) BEGIN
    INSERT INTO deal_counts (status, waits, shard, count) VALUES (NEW.status, NEW.waits, NEW.file % 64, 1)
      ON CONFLICT (status, waits, shard) DO UPDATE SET count = count + 1;
  END;
  DROP INDEX deals_by_status;
  `,
  `
  -- Which installation these records are of, in one row, and how far they have come: a number that grows and is written beside
  -- the objects after it is committed here, so that records that went back are told by it.
  CREATE TABLE installation (
    one INTEGER PRIMARY KEY,
    id TEXT NOT NULL,
    is_paired INTEGER NOT NULL,
    progress INTEGER NOT NULL
  ) STRICT;
  `,
  `
  -- The sha2-256 of each chunk of 1 MiB of a blob that has more than one, 32 bytes each. In a table of its own, since a column behind
  -- objects.inline would cost a read of its overflow pages.
  CREATE TABLE chunk_digests (
    object INTEGER PRIMARY KEY REFERENCES objects (id),
    digests BLOB NOT NULL
  ) STRICT;

  -- Blobs of several chunks that came before chunk_digests. Each goes when its digests are recorded.
  CREATE TABLE blobs_without_chunks (
    object INTEGER PRIMARY KEY REFERENCES objects (id)
  ) STRICT;
  INSERT INTO blobs_without_chunks (object)
    SELECT id FROM objects WHERE place = 'blob' AND size_bytes > 1048576
      AND NOT EXISTS (SELECT 1 FROM parts WHERE whole = objects.id);

  -- Objects whose bytes are known to be damaged, until right ones are in their place.
  CREATE TABLE damaged (
    object INTEGER PRIMARY KEY REFERENCES objects (id),
    kind TEXT NOT NULL CHECK (kind IN ('wrong', 'missing', 'inline')),
    noticed_at INTEGER NOT NULL
  ) STRICT;
  `,
  `
  -- A removal is of what one upload put under a digest, and not before a time. What was stored before has no name of its put: ''.
  CREATE TABLE discards_by_put (
    sha256 TEXT NOT NULL,
    put TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    due_at INTEGER NOT NULL,
    instance TEXT,
    PRIMARY KEY (sha256, put)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO discards_by_put (sha256, put, created_at, due_at, instance)
    SELECT sha256, '', created_at, 0, instance FROM discards;
  DROP TABLE discards;
  ALTER TABLE discards_by_put RENAME TO discards;
  CREATE INDEX discards_by_time ON discards (due_at, created_at, sha256, put);

  -- Which put of its bytes an object has in the blob store, and which one an upload is about to make readable.
  ALTER TABLE objects ADD COLUMN put TEXT NOT NULL DEFAULT '';
  ALTER TABLE reservations ADD COLUMN claimed_put TEXT NOT NULL DEFAULT '';
  `,
  `
  -- Objects of which a file expired: their bytes stay until a time, and longer when another file needs them.
  CREATE TABLE ended_objects (
    object INTEGER PRIMARY KEY REFERENCES objects (id),
    due_at INTEGER NOT NULL
  ) STRICT;
  CREATE INDEX ended_objects_by_time ON ended_objects (due_at, object);
  `,
  `
  -- A checksum over what a row says: which bytes its name leads to. NULL in rows of an older version, until a scrub has filled them in,
  -- which finds them by the indexes.
  ALTER TABLE aliases ADD COLUMN seal TEXT;
  ALTER TABLE names ADD COLUMN seal TEXT;
  ALTER TABLE parts ADD COLUMN seal TEXT;
  CREATE INDEX aliases_unsealed ON aliases (key) WHERE seal IS NULL;
  CREATE INDEX names_unsealed ON names (name) WHERE seal IS NULL;
  CREATE INDEX parts_unsealed ON parts (whole) WHERE seal IS NULL;
  `,
  `
  -- Bytes that no record ever named: they are kept for a while, are counted, and are let be when there are too many.
  ALTER TABLE discards ADD COLUMN is_orphan INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX discards_orphans ON discards (is_orphan) WHERE is_orphan = 1;
  `,
  `
  -- A day has a number of files as well, in which a reservation of bytes counts as one. No limit for those of an older version.
  ALTER TABLE reservations ADD COLUMN cap_files INTEGER NOT NULL DEFAULT 9007199254740991;

  -- A composed file is charged no bytes, and counts as a file of its day all the same. By a trigger, so that processes of an older
  -- version, which know nothing of it, count it too.
  INSERT INTO usage (principal, day, bytes, files)
    SELECT principal, charged_day, 0, COUNT(*) FROM files WHERE charged_bytes = 0 GROUP BY principal, charged_day
    ON CONFLICT (principal, day) DO UPDATE SET files = usage.files + excluded.files;
  CREATE TRIGGER composed_files_counted AFTER INSERT ON files WHEN NEW.charged_bytes = 0 BEGIN
    INSERT INTO usage (principal, day, bytes, files) VALUES (NEW.principal, NEW.charged_day, 0, 1)
      ON CONFLICT (principal, day) DO UPDATE SET files = files + 1;
  END;

  -- What all /64s of a /48 were charged together, by the /48, kept by triggers for the same reason.
  CREATE TABLE network_usage (
    network TEXT NOT NULL,
    day TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    files INTEGER NOT NULL,
    PRIMARY KEY (network, day)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO network_usage (network, day, bytes, files)
    SELECT rtrim(substr(principal, 1, length(principal) - 5), '0123456789abcdef') || ':/48', day, SUM(bytes), SUM(files)
    FROM usage WHERE principal LIKE 'ip:%::/64' GROUP BY 1, day;
  CREATE TRIGGER network_usage_counted AFTER INSERT ON usage WHEN NEW.principal LIKE 'ip:%::/64' BEGIN
    INSERT INTO network_usage (network, day, bytes, files)
      VALUES (rtrim(substr(NEW.principal, 1, length(NEW.principal) - 5), '0123456789abcdef') || ':/48', NEW.day, NEW.bytes, NEW.files)
      ON CONFLICT (network, day) DO UPDATE SET bytes = bytes + excluded.bytes, files = files + excluded.files;
  END;
  CREATE TRIGGER network_usage_counted_anew AFTER UPDATE OF bytes, files ON usage WHEN NEW.principal LIKE 'ip:%::/64' BEGIN
    UPDATE network_usage SET bytes = bytes + NEW.bytes - OLD.bytes, files = files + NEW.files - OLD.files
      WHERE network = rtrim(substr(NEW.principal, 1, length(NEW.principal) - 5), '0123456789abcdef') || ':/48' AND day = NEW.day;
  END;
  `,
  `
  -- 1 for a revoked token whose share links go on.
  ALTER TABLE tokens ADD COLUMN keeps_links INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- When to forget a token: of a wallet's sign-in, which is good for minutes. NULL for never.
  ALTER TABLE tokens ADD COLUMN forget_at INTEGER;
  CREATE INDEX tokens_to_forget ON tokens (forget_at) WHERE forget_at IS NOT NULL;

  -- Each time that all tokens of a user were revoked: those that were issued before, also those that no record knows.
  CREATE TABLE user_revocations (
    sub TEXT NOT NULL,
    revoked_at INTEGER NOT NULL,
    keeps_links INTEGER NOT NULL,
    PRIMARY KEY (sub, revoked_at)
  ) STRICT, WITHOUT ROWID;

  -- For answers that name the email address and not the challenge: who asked for the code, and a digest of it under the signing key.
  ALTER TABLE challenges ADD COLUMN asked_by TEXT NOT NULL DEFAULT '';
  ALTER TABLE challenges ADD COLUMN email_code_digest TEXT NOT NULL DEFAULT '';
  CREATE INDEX challenges_by_email ON challenges (email, asked_by);
  `,
  `
  -- Which file of an object is served: those of tokens and wallets before sponsored ones, each in the order of staging.
  DROP INDEX files_live_by_object;
  CREATE INDEX files_live_by_object ON files (object, sponsored, sequence) WHERE ended_at IS NULL;

  -- Files that became public: how provers get them is decided again.
  CREATE TABLE reenrolments (
    file INTEGER PRIMARY KEY REFERENCES files (sequence)
  ) STRICT;
  `,
  `
  -- Browsers that are signed in, by a digest of what their cookie says. jti is of the token that a session was made from.
  CREATE TABLE sessions (
    id TEXT PRIMARY KEY,
    digest TEXT NOT NULL UNIQUE,
    via TEXT NOT NULL CHECK (via IN ('email', 'code', 'wallet', 'token')),
    sub TEXT NOT NULL,
    email TEXT,
    scopes TEXT NOT NULL,
    quota_mb INTEGER,
    jti TEXT,
    key_id TEXT NOT NULL,
    issued_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    last_used_at INTEGER NOT NULL,
    expires_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX sessions_by_user ON sessions (sub, expires_at);
  CREATE INDEX sessions_by_expiry ON sessions (expires_at);
  `,
  `
  -- Of sponsored files: the sha2-256 of the secret that claims one for an account, as its upload announced it.
  CREATE TABLE claims (
    file INTEGER PRIMARY KEY REFERENCES files (sequence),
    digest TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- What operators and callers did, one line of JSON each, which holds the SHA-256 of the line before. Rows are only ever added.
  CREATE TABLE audit_log (
    sequence INTEGER PRIMARY KEY,
    line TEXT NOT NULL
  ) STRICT;
  `,
  `
  -- Content that the operator blocks: rows stay when a takedown is lifted. name is what is blocked, cid how the operator wrote it.
  CREATE TABLE takedowns (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    cid TEXT NOT NULL,
    reason TEXT NOT NULL,
    blocked_at INTEGER NOT NULL,
    blocked_by TEXT NOT NULL,
    deletes INTEGER NOT NULL,
    lifted_at INTEGER,
    lifted_by TEXT,
    revision INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX takedowns_one_live ON takedowns (name) WHERE lifted_at IS NULL;
  CREATE INDEX takedowns_by_revision ON takedowns (revision);

  -- What a takedown reaches while it holds: names, and objects. is_whole is 0 for an object that has a blocked block among others.
  CREATE TABLE takedown_names (
    takedown INTEGER NOT NULL REFERENCES takedowns (id),
    name TEXT NOT NULL,
    PRIMARY KEY (takedown, name)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE takedown_objects (
    takedown INTEGER NOT NULL REFERENCES takedowns (id),
    object INTEGER NOT NULL REFERENCES objects (id),
    is_whole INTEGER NOT NULL,
    PRIMARY KEY (takedown, object)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX takedown_objects_by_object ON takedown_objects (object);
  CREATE INDEX aliases_by_object ON aliases (object);
  CREATE INDEX names_by_object ON names (object);
  CREATE INDEX aggregate_members_by_object ON aggregate_members (object);

  -- Callers that the operator refuses. is_removing is 1 until the last of their files is removed.
  CREATE TABLE blocked_callers (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    kind TEXT NOT NULL CHECK (kind IN ('user', 'wallet', 'network')),
    value TEXT NOT NULL,
    given TEXT NOT NULL,
    reason TEXT NOT NULL,
    blocked_at INTEGER NOT NULL,
    blocked_by TEXT NOT NULL,
    removes_files INTEGER NOT NULL,
    is_removing INTEGER NOT NULL,
    lifted_at INTEGER,
    lifted_by TEXT,
    revision INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX blocked_callers_one_live ON blocked_callers (value) WHERE lifted_at IS NULL;
  CREATE INDEX blocked_callers_by_revision ON blocked_callers (revision);
  CREATE INDEX blocked_callers_removing ON blocked_callers (id) WHERE is_removing = 1;

  -- How often takedowns, and blocked callers, have changed.
  CREATE TABLE moderation_revisions (
    name TEXT PRIMARY KEY,
    revision INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  `,
  `
  -- What operators have set for single callers. NULL for no limit of its own.
  CREATE TABLE caller_limits (
    principal TEXT PRIMARY KEY,
    daily_bytes INTEGER,
    stored_bytes INTEGER
  ) STRICT, WITHOUT ROWID;

  -- What a token of a user was charged by itself. What an older version charges has no token, and counts for all of the user's.
  CREATE TABLE token_usage (
    principal TEXT NOT NULL,
    day TEXT NOT NULL,
    token TEXT NOT NULL,
    bytes INTEGER NOT NULL CHECK (bytes >= 0),
    PRIMARY KEY (principal, day, token)
  ) STRICT, WITHOUT ROWID;
  ALTER TABLE files ADD COLUMN charged_token TEXT;
  ALTER TABLE reservations ADD COLUMN cap_stored INTEGER;
  ALTER TABLE reservations ADD COLUMN token TEXT;
  ALTER TABLE reservations ADD COLUMN cap_token INTEGER;
  CREATE INDEX tokens_by_quota ON tokens (sub, quota_mb);

  -- What all /64s of a /48 have stored together, of what was charged to the day, as usage has it.
  ALTER TABLE network_usage ADD COLUMN stored_bytes INTEGER NOT NULL DEFAULT 0;
  UPDATE network_usage SET stored_bytes = summed.bytes FROM (
    SELECT rtrim(substr(principal, 1, length(principal) - 5), '0123456789abcdef') || ':/48' AS network, day, SUM(stored_bytes) AS bytes
    FROM usage WHERE principal LIKE 'ip:%::/64' GROUP BY 1, day
  ) AS summed WHERE summed.network = network_usage.network AND summed.day = network_usage.day;
  DROP TRIGGER network_usage_counted;
  DROP TRIGGER network_usage_counted_anew;
  CREATE TRIGGER network_usage_counted AFTER INSERT ON usage WHEN NEW.principal LIKE 'ip:%::/64' BEGIN
    INSERT INTO network_usage (network, day, bytes, files, stored_bytes)
      VALUES (rtrim(substr(NEW.principal, 1, length(NEW.principal) - 5), '0123456789abcdef') || ':/48', NEW.day, NEW.bytes, NEW.files,
        NEW.stored_bytes)
      ON CONFLICT (network, day) DO UPDATE SET bytes = bytes + excluded.bytes, files = files + excluded.files,
        stored_bytes = stored_bytes + excluded.stored_bytes;
  END;
  CREATE TRIGGER network_usage_counted_anew AFTER UPDATE OF bytes, files, stored_bytes ON usage WHEN NEW.principal LIKE 'ip:%::/64' BEGIN
    UPDATE network_usage SET bytes = bytes + NEW.bytes - OLD.bytes, files = files + NEW.files - OLD.files,
        stored_bytes = stored_bytes + NEW.stored_bytes - OLD.stored_bytes
      WHERE network = rtrim(substr(NEW.principal, 1, length(NEW.principal) - 5), '0123456789abcdef') || ':/48' AND day = NEW.day;
  END;
  `,
  `
  -- What all principals had stored together, as it was last noted on a day.
  CREATE TABLE stored_days (
    day TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX usage_by_day ON usage (day);
  `,
  `
  -- What is known of people is erased after a while. is_thin is 1 for an ended file whose name, type and owner are.
  ALTER TABLE files ADD COLUMN is_thin INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX files_to_thin ON files (ended_at) WHERE ended_at IS NOT NULL AND is_thin = 0;
  CREATE INDEX usage_of_addresses ON usage (day, principal) WHERE principal > 'ip:' AND principal < 'ip;';
  CREATE INDEX tokens_by_expiry ON tokens (expires_at) WHERE sub <> '';
  CREATE INDEX blocked_callers_by_value ON blocked_callers (value);
  `,
  `
  -- Uploads that are sent in several requests. Their reservations have no instance. size_bytes is NULL while nobody has said it, writer
  -- while nobody writes, cid before the file is stored.
  CREATE TABLE open_uploads (
    id TEXT PRIMARY KEY,
    principal TEXT NOT NULL,
    tier TEXT NOT NULL,
    kind TEXT NOT NULL CHECK (kind IN ('whole', 'partial', 'final')),
    reservation TEXT NOT NULL,
    size_bytes INTEGER,
    durable_bytes INTEGER NOT NULL DEFAULT 0,
    head TEXT NOT NULL,
    metadata TEXT NOT NULL,
    place TEXT NOT NULL DEFAULT '',
    writer TEXT,
    cid TEXT,
    expires_at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX open_uploads_by_principal ON open_uploads (principal);
  CREATE INDEX open_uploads_by_expiry ON open_uploads (expires_at);
  `,
  `
  -- What a folder needs beside the blocks of its directories: the objects of its files, and other objects with blocks of directories. Rows
  -- are here while a file is open that is this folder. uses says how many of its entries lead to the object.
  CREATE TABLE members (
    folder INTEGER NOT NULL REFERENCES objects (id),
    object INTEGER NOT NULL REFERENCES objects (id),
    uses INTEGER NOT NULL CHECK (uses >= 0),
    PRIMARY KEY (folder, object)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX members_by_object ON members (object, folder);

  -- Of a file that is a folder: how many files are in it, and their bytes, as it is shown; NULL for any other. member_bytes are stored for
  -- it beside its own object.
  ALTER TABLE files ADD COLUMN folder_files INTEGER;
  ALTER TABLE files ADD COLUMN folder_bytes INTEGER;
  ALTER TABLE files ADD COLUMN member_bytes INTEGER NOT NULL DEFAULT 0;
  `,
  `
  -- What the marketplace contract holds for the account of this service, by the events of final blocks; amounts are units of 10^-6 USDC.
  -- state is as it was read last, final_state as final blocks have it. check_at is when to read it again, NULL once all of it has come out.
  CREATE TABLE escrows (
    contract TEXT NOT NULL,
    onchain_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('proposed', 'active', 'withdrawn', 'settled', 'slashed')),
    final_state TEXT NOT NULL CHECK (final_state IN ('proposed', 'active', 'withdrawn', 'settled', 'slashed')),
    ends_at INTEGER,
    paid_in INTEGER NOT NULL,
    paid_out INTEGER NOT NULL,
    returned INTEGER NOT NULL,
    check_at INTEGER,
    -- The transaction that takes something out, while that is not settled, and how many were undone since one was not.
    action_tx INTEGER REFERENCES transactions (id),
    failures INTEGER NOT NULL,
    PRIMARY KEY (contract, onchain_id)
  ) STRICT;
  CREATE INDEX escrows_to_check ON escrows (contract, check_at) WHERE action_tx IS NULL AND check_at IS NOT NULL;
  CREATE INDEX escrows_by_action ON escrows (action_tx) WHERE action_tx IS NOT NULL;
  CREATE INDEX escrows_by_id ON escrows (onchain_id);

  -- What a transaction puts in escrow; 0 for those of before.
  ALTER TABLE transactions ADD COLUMN payment_micro_usdc INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX transactions_by_payment ON transactions (account, created_at) WHERE payment_micro_usdc > 0;

  -- What is reserved for all wallets that use a client address, which stands in the place of a token.
  CREATE INDEX reservations_by_token ON reservations (token, day) WHERE token IS NOT NULL;
  `,
  `
  -- How many additions with the copy its prover rejected.
  ALTER TABLE copies ADD COLUMN rejections INTEGER NOT NULL DEFAULT 0;
  UPDATE copies SET rejections = attempts, attempts = 0 WHERE state = 'parked';

  -- A piece that is the CAR of a file's DAG: its root, and the profile that the file was imported with. object is the file's.
  ALTER TABLE pieces ADD COLUMN car_root TEXT;
  ALTER TABLE pieces ADD COLUMN car_layout TEXT;
  -- Not NULL where the piece is a CAR beside the bytes of the file: how many copies are wanted of it.
  ALTER TABLE deal_pieces ADD COLUMN car_copies INTEGER;
  -- 1 once it was decided whether the file gets a CAR.
  ALTER TABLE deals ADD COLUMN car_checked INTEGER NOT NULL DEFAULT 0;
  CREATE INDEX deals_to_check_for_car ON deals (file) WHERE car_checked = 0 AND closed_at IS NULL;

  -- CARs go to data sets of their own, of which the prover announces the blocks; holds says which kind of piece.
  ALTER TABLE additions ADD COLUMN holds TEXT NOT NULL DEFAULT 'bytes' CHECK (holds IN ('bytes', 'cars'));
  CREATE TABLE data_sets_by_content (
    prover TEXT NOT NULL,
    holds TEXT NOT NULL CHECK (holds IN ('bytes', 'cars')),
    data_set_id TEXT NOT NULL,
    PRIMARY KEY (prover, holds)
  ) STRICT, WITHOUT ROWID;
  INSERT INTO data_sets_by_content (prover, holds, data_set_id) SELECT prover, 'bytes', data_set_id FROM data_sets;
  DROP TABLE data_sets;
  ALTER TABLE data_sets_by_content RENAME TO data_sets;
  `,
  `
  -- Accounts and contracts are named with their chain: eip155:<chain id>:<address>. What an older version wrote has the address alone, and
  -- its deals have no contract, until the first round on the chain that has them; see adopt in sql/chain-adoption.ts.
  ALTER TABLE onchain_deals ADD COLUMN contract TEXT;
  DROP INDEX onchain_deals_by_id;
  CREATE INDEX onchain_deals_by_id ON onchain_deals (onchain_id, contract) WHERE onchain_id IS NOT NULL;
  CREATE INDEX onchain_deals_unnamed ON onchain_deals (tx) WHERE contract IS NULL AND tx IS NOT NULL;

  -- Deals can be ended with notice, and provers put up a bond.
  CREATE TABLE escrows_with_notice (
    contract TEXT NOT NULL,
    onchain_id TEXT NOT NULL,
    state TEXT NOT NULL CHECK (state IN ('proposed', 'active', 'ending', 'withdrawn', 'settled', 'slashed')),
    final_state TEXT NOT NULL CHECK (final_state IN ('proposed', 'active', 'ending', 'withdrawn', 'settled', 'slashed')),
    ends_at INTEGER,
    paid_in INTEGER NOT NULL,
    paid_out INTEGER NOT NULL,
    returned INTEGER NOT NULL,
    check_at INTEGER,
    -- The transaction that takes something out, while that is not settled, and how many were undone since one was not.
    action_tx INTEGER REFERENCES transactions (id),
    failures INTEGER NOT NULL,
    bond INTEGER NOT NULL DEFAULT 0,
    bond_released INTEGER NOT NULL DEFAULT 0,
    bond_forfeited INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (contract, onchain_id)
  ) STRICT;
  INSERT INTO escrows_with_notice (contract, onchain_id, state, final_state, ends_at, paid_in, paid_out, returned, check_at, action_tx, failures)
    SELECT contract, onchain_id, state, final_state, ends_at, paid_in, paid_out, returned, check_at, action_tx, failures FROM escrows;
  DROP TABLE escrows;
  ALTER TABLE escrows_with_notice RENAME TO escrows;
  CREATE INDEX escrows_to_check ON escrows (contract, check_at) WHERE action_tx IS NULL AND check_at IS NOT NULL;
  CREATE INDEX escrows_by_action ON escrows (action_tx) WHERE action_tx IS NOT NULL;
  `,
  `
  -- The audits of a copy in one row: results has the last 30, see sql/audit-results.ts; seed and proof are those of the last one. Rows of
  -- audits are of an older version, and are moved here a few at a time.
  CREATE TABLE copy_audits (
    copy INTEGER PRIMARY KEY REFERENCES copies (id),
    results BLOB NOT NULL,
    seed BLOB NOT NULL,
    proof BLOB
  ) STRICT;
  `,
  `
  -- What has ended goes after a while. thinned_bytes and thinned_files are the charges of a day whose files are gone from the records.
  ALTER TABLE usage ADD COLUMN thinned_bytes INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE usage ADD COLUMN thinned_files INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE token_usage ADD COLUMN thinned_bytes INTEGER NOT NULL DEFAULT 0;

  -- The names of such files, for 410: the first 12 bytes of a SHA-256, see sql/ended-keys.ts. how_ended is 1 for expired, 2 for removed, 3
  -- for composed.
  CREATE TABLE ended_keys (
    digest BLOB PRIMARY KEY,
    how_ended INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX files_thin ON files (ended_at, sequence) WHERE ended_at IS NOT NULL AND is_thin = 1;
  CREATE INDEX objects_without_bytes ON objects (id) WHERE place = 'none';

  -- What refers to a row is found before that goes.
  CREATE INDEX files_by_whole ON files (composed_into) WHERE composed_into IS NOT NULL;
  CREATE INDEX deal_pieces_by_object ON deal_pieces (object) WHERE object IS NOT NULL;
  CREATE INDEX addition_copies_by_copy ON addition_copies (copy);
  CREATE TRIGGER copies_counted_out AFTER DELETE ON copies BEGIN
    UPDATE copy_counts SET count = count - 1 WHERE prover = OLD.prover AND state = OLD.state AND shard = OLD.piece % 64;
  END;
  `,
  `
  -- The mark serving counts the changes by which a file that was found under a key may be found otherwise, or no more. Responses are kept
  -- in memory until it differs. A file of new bytes is none of them: all that can lead to it is newer than what was found before.
  ${servingChanged(
    'file',
    `AFTER INSERT ON files
    WHEN NEW.object < (SELECT MAX(id) FROM objects)
      OR EXISTS (SELECT 1 FROM files WHERE object = NEW.object AND sequence <> NEW.sequence)
      OR EXISTS (SELECT 1 FROM members WHERE object = NEW.object)
      OR EXISTS (SELECT 1 FROM objects JOIN blocks ON multihash = unhex('1220' || sha256) WHERE id = NEW.object)`,
  )}
  ${servingChanged('change', 'AFTER UPDATE ON files WHEN OLD.ended_at IS NULL OR NEW.ended_at IS NULL')}
  ${servingChanged('deletion', 'AFTER DELETE ON files WHEN OLD.ended_at IS NULL')}
  ${servingChanged('object', 'AFTER UPDATE OF sha256, place, inline, inline_v1, piece_root ON objects')}
  ${servingChanged('aliases_insert', 'AFTER INSERT ON aliases')}
  ${servingChanged('aliases_update', 'AFTER UPDATE ON aliases')}
  ${servingChanged('aliases_delete', 'AFTER DELETE ON aliases')}
  ${servingChanged('names_update', 'AFTER UPDATE ON names')}
  ${servingChanged('names_delete', 'AFTER DELETE ON names')}
  ${servingChanged('members_insert', 'AFTER INSERT ON members')}
  ${servingChanged('members_delete', 'AFTER DELETE ON members')}
  ${servingChanged('dags_update', 'AFTER UPDATE ON dags')}
  ${servingChanged('dags_delete', 'AFTER DELETE ON dags')}
  ${servingChanged('piece_name', `AFTER INSERT ON names WHEN substr(NEW.name, 1, 9) = 'piece-v1:'`)}
  `,
  `
  -- What the blob store should hold, in the order of its digests: objects whose bytes are here need not be passed over.
  CREATE INDEX objects_in_blobs ON objects (sha256, put, size_bytes) WHERE place = 'blob';
  `,
  `
  -- What these counted is counted by what adds a file. A statement without triggers need not be prepared to be undone halfway.
  DROP TRIGGER composed_files_counted;
  DROP TRIGGER serving_changed_by_file;
  `,
]
