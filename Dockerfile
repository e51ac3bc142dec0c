# The image of the service. The first stage builds with npm; the second stage has only the files that the service needs at run time.
#
#   docker build -t commerce-gateway .
#   docker run --rm -p 4000:4000 commerce-gateway                 runs the demo with an embedded database, which is deleted with the container
#   docker run --rm commerce-gateway config                       runs any command of the README
#
# The base image has the Node version of package.json (test/deploy/image.test.ts compares them), so the package `node` is not needed.
FROM node:26.10.0-trixie-slim AS build
WORKDIR /app

COPY package.json package-lock.json .npmrc ./
# No package needs its install scripts. Only `node` has one, which would download the runtime again.
RUN npm ci --omit=dev --ignore-scripts --no-audit --no-fund

COPY vite.config.ts ./
COPY src/ src/
# GraphiQL's pages link to the sections of the error guide, which the build reads.
COPY docs/errors.md docs/errors.md
# Node loads the configuration. Vite's loader would add a folder to node_modules, after which npm would not know its installed packages.
RUN npm run build -- --logLevel warn --configLoader native

# After the build, the packages for the browser build and for Mesh's command line are removed: more than half of all packages.
RUN npm uninstall --omit=dev --ignore-scripts --no-audit --no-fund vite preact node @graphql-mesh/cli
# Removes files that only debuggers and compilers read.
RUN find node_modules -type f \( -name "*.map" -o -name "*.d.ts" -o -name "*.d.cts" -o -name "*.d.mts" \) -delete

FROM node:26.10.0-trixie-slim
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Commerce Gateway" \
  org.opencontainers.image.description="A commerce platform's public API: REST operations translated to one GraphQL graph over PostgreSQL." \
  org.opencontainers.image.version="$VERSION" \
  org.opencontainers.image.revision="$REVISION" \
  org.opencontainers.image.licenses="UNLICENSED"

# Removes package managers, which are not needed at run time. The service writes only to /data, and with DATABASE_URL writes no files.
RUN rm -rf /usr/local/lib/node_modules /usr/local/bin/npm /usr/local/bin/npx /opt/yarn* /usr/local/bin/yarn* \
  && mkdir -m 700 /data && chown 10001:10001 /data

WORKDIR /app
COPY --from=build /app/package.json ./
COPY --from=build /app/node_modules/ node_modules/
COPY --from=build /app/dist/ dist/
COPY .meshrc.yaml ./
COPY src/ src/
COPY clients/cli/package.json clients/cli/package.json
COPY clients/cli/src/ clients/cli/src/
COPY schema/ schema/
COPY CHANGELOG.md ./
COPY docs/errors.md docs/errors.md
COPY docs/guides/ docs/guides/

# The MALLOC variables have the values that `npm start` sets.
ENV HOST=0.0.0.0 PORT=4000 DATA_DIR=/data MALLOC_ARENA_MAX=2 MALLOC_MMAP_THRESHOLD_=131072 MALLOC_TRIM_THRESHOLD_=131072
# A numeric user, so that platforms that forbid root can check it without reading the image.
USER 10001:10001
VOLUME /data
EXPOSE 4000
STOPSIGNAL SIGTERM
# Checks whether the process is alive. Load balancers use /readyz to see whether it can answer requests.
HEALTHCHECK --interval=10s --timeout=3s --start-period=60s --retries=3 \
  CMD ["node", "-e", "fetch('http://127.0.0.1:' + process.env.PORT + '/healthz').then((answer) => process.exit(answer.ok ? 0 : 1), () => process.exit(1))"]
# Started without a shell, so that the service receives the stop signal. The option is that of `npm start`.
ENTRYPOINT ["node", "--max-semi-space-size=16", "src/main.ts"]
CMD ["serve"]
