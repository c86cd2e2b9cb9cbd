create table if not exists about (name text primary key, value);
create table if not exists documents (id integer primary key, name text unique, hash text, entity integer);
create table if not exists entities (id integer primary key, key text unique, name text, folded text, last text,
    type text, description text, shared integer, document integer);
create index if not exists entities_of on entities (document);
create table if not exists places (entity integer, document integer, first integer, last integer, fields text,
    primary key (entity, document)) without rowid;
create index if not exists places_of on places (document);
create index if not exists places_with_fields on places (entity) where fields != '';
create table if not exists refs (id integer primary key, document integer, source integer, type text, target text,
    last text, target_type text, line integer, certainty integer, description text, otherwise text, fields text);
create index if not exists refs_of on refs (document, line);
create table if not exists relations (source integer, target integer, type text, certainty integer, ref integer,
    primary key (ref, target)) without rowid;
create table if not exists aliases (document integer, name text, last text, target text);
create index if not exists aliases_of on aliases (document);
