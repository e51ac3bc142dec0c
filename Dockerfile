# The service as an image. It is built by npm and runs without it: what was only needed to build is not in the second half.
#
#   docker build -t commerce-gateway .
#   docker run --rm -p 4000:4000 commerce-gateway                 the demo, in an embedded database that ends with it
#   docker run --rm commerce-gateway config                       any command of the README
#
# The base brings the runtime that package.json names (test/deploy/image.test.ts holds the two equal), so that the package `node` is not needed here.
FROM node:26.10.0-trixie-slim AS build
WORKDIR /app

COPY package.json package-lock.json .npmrc ./
# No package has anything to build: `node` alone has a script, which fetches the runtime a second time.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

COPY vite.config.ts ./
COPY src/ src/
# The configuration is loaded by Node itself: Vite would leave a folder in node_modules, and npm then not know any more what it has installed.
RUN npm run build -- --logLevel warn --configLoader native

# What browsers load is built, and Mesh's own command line is never asked: with what they alone need, that is more than half of the packages.
RUN npm uninstall --omit=dev --ignore-scripts --no-audit --no-fund vite preact node @graphql-mesh/cli
# What only debuggers and compilers read.
RUN find node_modules -type f \( -name "*.map" -o -name "*.d.ts" -o -name "*.d.cts" -o -name "*.d.mts" \) -delete

FROM node:26.10.0-trixie-slim
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Commerce Gateway" \
  org.opencontainers.image.description="A commerce platform's public API: REST operations translated to one GraphQL graph over PostgreSQL." \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.licenses="UNLICENSED"

# Nothing here installs anything. What is written lies in /data alone, and with DATABASE_URL nothing is.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /opt/yarn* /usr/local/bin/yarn* \
  && mkdir -m 700 /data && chown 10001:10001 /data

WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules/ node_modules/
COPY --from=build /app/dist/ dist/
COPY .meshrc.yaml ./
COPY src/ src/
COPY schema/ schema/
COPY docs/errors.md docs/errors.md
COPY docs/guides/ docs/guides/

# As `npm start` has it.
ENV HOST=0.0.0.0 PORT=4000 DATA_DIR=/data MALLOC_ARENA_MAX=2
# By number: whoever forbids root can tell without looking into the image.
USER 10001:10001
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
# Whether the process lives. Whether it can serve is what /readyz says, for whoever sends it requests.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# No shell between: the signal to stop reaches the service. The option is the one that `npm start` gives.
ENTRYPOINT ["node", "--max-semi-space-size=16", "src/main.ts"]
CMD ["serve"]
