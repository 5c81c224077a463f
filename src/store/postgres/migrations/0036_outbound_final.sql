-- What is sent or failed, and owes its sender no report: it is deleted some days after its last change.
create index outbound_final on outbound (updated_at) where status in ('Sent', 'Failed') and report_due is null;
