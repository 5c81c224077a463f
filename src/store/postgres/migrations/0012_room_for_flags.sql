-- A change of flags writes the row anew. Pages are left with room for new versions, which then need no entries in the indexes;
-- pages that are there already stay full until their rows are written anew.

alter table emails set (fillfactor = 85);
