# The image: one program on Debian. `docker build .` compiles the program; a release contains it, and only the second half
# of this file (scripts/dist).
FROM swift:6.3-bookworm AS build
RUN apt-get -q update && apt-get -q -y --no-install-recommends install libargon2-dev \
        libcrypt-dev libcurl4-openssl-dev libpq-dev libpsl-dev libssl-dev pkg-config python3 \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# The packages first: they change less often than the sources.
COPY Package.swift ./
RUN swift package resolve
COPY Sources Sources
COPY Tests Tests
COPY scripts scripts
COPY docker docker
RUN install -D --strip "$(scripts/dist --program)" /out/identity && install docker/healthcheck /out/healthcheck

FROM debian:bookworm-slim
RUN apt-get -q update && apt-get -q -y --no-install-recommends install ca-certificates libargon2-1 libcrypt1 \
        libcurl4 libpq5 libpsl5 libssl3 libstdc++6 zlib1g \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin identity
COPY --from=build /out/identity /out/healthcheck /usr/local/bin/
USER identity
ENV IDENTITY_HTTP_BIND=0.0.0.0:9099
EXPOSE 9099
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s CMD ["healthcheck"]
ENTRYPOINT ["identity"]
CMD ["serve"]
