-- An index of the reviews of BSBM for bif:contains.
DB.DBA.RDF_OBJ_FT_RULE_ADD (null, 'http://purl.org/stuff/rev#text', 'reviews');
DB.DBA.VT_INC_INDEX_DB_DBA_RDF_OBJ ();
checkpoint;
