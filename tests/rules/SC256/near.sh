docker run -v /:/host:ro prom/node-exporter
