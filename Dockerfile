# Mansio as an image: `docker build -t mansio:0.2.0 .`. Built in one stage; the other holds what runs: the bundled program and the
# HTTP server's package, no compiler. Debian 13, because the HTTP server's program for Node.js 24 needs its glibc: Alpine will not do.
#
# The embedded PostgreSQL is left out: DATABASE_URL has to be set. Data that a node keeps (name, certificate, spool) is in /data.

FROM node:24-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# `prepare` would build, and there is nothing to build yet; no other package needs its install script.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:24-trixie-slim
# A container's network is its own: HTTP is open in it, for what publishes or balances it. Without TLS before it keys travel in the clear.
ENV NODE_ENV=production MANSIO_BIND=0.0.0.0 MANSIO_HTTP_BIND=0.0.0.0 MANSIO_DATA_DIR=/data
WORKDIR /app
# The HTTP server's program is the one package that is not bundled; that for older systems stays out.
COPY --from=build /build/node_modules/uWebSockets.js node_modules/uWebSockets.js
COPY --from=build /build/node_modules/@uwsjs node_modules/@uwsjs
COPY --from=build /build/dist/program dist/program
COPY package.json LICENSE ./
COPY bin bin
# `docker exec … mansio cluster status` needs no path; /data belongs to the user that writes it, in a new volume too.
RUN ln -s /app/bin/mansio /usr/local/bin/mansio && install -d -o node -g node -m 0700 /data
USER node
VOLUME /data
EXPOSE 8080 2525 2587 2465 2143 2993 2110 2995 4190
# Asks HTTP, or the metrics port of a node without the role `api`.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "/app/bin/health-check.js"]
# Node itself is process 1: it has handlers for SIGTERM and SIGINT, and no children to reap.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--", "/app/bin/mansio"]
CMD ["serve"]
