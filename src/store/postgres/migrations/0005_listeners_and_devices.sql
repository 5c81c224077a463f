-- Where clients reach the listeners of a node: a JSON object of `host:port` by the name of the listener.
alter table nodes add column listeners json not null default '{}';

-- The device that an API key was made for. The account has one active key a device.
alter table api_keys add column device_id text;
create unique index api_keys_device on api_keys (account_id, device_id) where revoked_at is null and device_id is not null;
