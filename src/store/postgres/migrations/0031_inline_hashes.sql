-- The row of a chunk is larger than 2 kB, and its data stay where they are: PostgreSQL looked for something else to move away, and
-- moved the hash of each chunk to the TOAST table, with a row and an index entry of its own.
alter table blob_chunks alter column hash set storage plain;
