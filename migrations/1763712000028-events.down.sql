DROP TABLE webhook_delivery;
DROP TABLE webhook_endpoint;
DROP TABLE event_reader;
