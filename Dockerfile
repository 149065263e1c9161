# Builds the service; what runs holds libpq, libssl, libcurl, libargon2 and one program.
FROM swift:6.3-bookworm AS build
RUN apt-get -q update && apt-get -q -y --no-install-recommends install libargon2-dev \
        libcrypt-dev libcurl4-openssl-dev libpq-dev libssl-dev pkg-config \
    && rm -rf /var/lib/apt/lists/*
WORKDIR /src
# The packages first: they change less often than the sources.
COPY Package.swift ./
RUN swift package resolve
COPY Sources Sources
COPY Tests Tests
RUN swift build -c release --static-swift-stdlib --product identity \
    && install -D --strip .build/release/identity /out/identity

FROM debian:bookworm-slim
RUN apt-get -q update && apt-get -q -y --no-install-recommends install ca-certificates libargon2-1 libcrypt1 \
        libcurl4 libpq5 libssl3 libstdc++6 \
    && rm -rf /var/lib/apt/lists/* \
    && useradd --system --no-create-home --home-dir /nonexistent --shell /usr/sbin/nologin identity
COPY --from=build /out/identity /usr/local/bin/identity
COPY docker/healthcheck /usr/local/bin/healthcheck
USER identity
ENV IDENTITY_HTTP_BIND=0.0.0.0:9099
EXPOSE 9099
HEALTHCHECK --interval=10s --timeout=6s --start-period=10s CMD ["healthcheck"]
ENTRYPOINT ["identity"]
CMD ["serve"]
