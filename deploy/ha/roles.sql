-- The roles and the database of docs/operations/production.md; psql's variables owner and service are the passwords.
CREATE ROLE identity_owner LOGIN PASSWORD :'owner';
CREATE ROLE identity_service LOGIN PASSWORD :'service';
CREATE ROLE identity_backup LOGIN;
GRANT identity_owner TO CURRENT_USER;
GRANT pg_read_all_data TO identity_backup;
CREATE DATABASE identity OWNER identity_owner TEMPLATE template0 ENCODING 'UTF8' LOCALE 'C';
REVOKE ALL ON DATABASE identity FROM PUBLIC;
GRANT CONNECT ON DATABASE identity TO identity_service, identity_backup;
\connect identity
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA public TO identity_service;
ALTER DEFAULT PRIVILEGES FOR ROLE identity_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO identity_service;
