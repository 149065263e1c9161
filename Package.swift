// swift-tools-version: 6.2
import PackageDescription

/// For the façades over C libraries: pointers are their business.
///
/// An expression that costs the type checker seconds does not compile. What it may try is counted, not timed, so that a
/// slow machine finds the same.
let facade: [SwiftSetting] = [
    .unsafeFlags(["-Xfrontend", "-solver-scope-threshold=100000"]),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]
/// For everything else: an unsafe construct doesn't compile.
let strict = facade + [.strictMemorySafety()]
/// For tests: compiled without the optimizer in a release build too, in batches side by side as in a debug build.
///
/// Optimizing the tests takes longer than compiling the code that they test.
let tests =
    strict + [
        .unsafeFlags(["-Onone", "-no-whole-module-optimization", "-enable-batch-mode"], .when(configuration: .release))
    ]

// Packages, by the product a target imports.
let argumentParser = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let asyncAlgorithms = Target.Dependency.product(name: "AsyncAlgorithms", package: "swift-async-algorithms")
let asyncHTTPClient = Target.Dependency.product(name: "AsyncHTTPClient", package: "async-http-client")
let configuration = Target.Dependency.product(name: "Configuration", package: "swift-configuration")
let crypto = Target.Dependency.product(name: "Crypto", package: "swift-crypto")
let cryptoExtras = Target.Dependency.product(name: "CryptoExtras", package: "swift-crypto")
let httpTypes = Target.Dependency.product(name: "HTTPTypes", package: "swift-http-types")
let inMemoryLogging = Target.Dependency.product(name: "InMemoryLogging", package: "swift-log")
let jwtKit = Target.Dependency.product(name: "JWTKit", package: "jwt-kit")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")
let nioCore = Target.Dependency.product(name: "NIOCore", package: "swift-nio")
let nioFoundation = Target.Dependency.product(name: "NIOFoundationCompat", package: "swift-nio")
let nioHTTP1 = Target.Dependency.product(name: "NIOHTTP1", package: "swift-nio")
let nioSSL = Target.Dependency.product(name: "NIOSSL", package: "swift-nio-ssl")
let nioTLS = Target.Dependency.product(name: "NIOTLS", package: "swift-nio")
let nioPosix = Target.Dependency.product(name: "NIOPosix", package: "swift-nio")
let serviceLifecycle = Target.Dependency.product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
let swiftASN1 = Target.Dependency.product(name: "SwiftASN1", package: "swift-asn1")
let unixSignals = Target.Dependency.product(name: "UnixSignals", package: "swift-service-lifecycle")
let x509 = Target.Dependency.product(name: "X509", package: "swift-certificates")
let yams = Target.Dependency.product(name: "Yams", package: "Yams")

// The rooms, lowest first. `swift build --explicit-target-dependency-import-check error` keeps every import
// within the dependencies named here, so nothing can be imported against the direction of this list.
let package = Package(
    name: "identity",
    platforms: [.macOS(.v15)],
    products: [.executable(name: "identity", targets: ["identity"])],
    dependencies: [
        .package(url: "https://github.com/vapor/jwt-kit", from: "5.3.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.33.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.11.0"),
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.19.3"),
        .package(url: "https://github.com/apple/swift-asn1", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(
            url: "https://github.com/apple/swift-configuration",
            from: "1.2.0",
            traits: [.defaults, "YAML"]
        ),
        .package(url: "https://github.com/apple/swift-log", from: "1.14.0"),
        .package(url: "https://github.com/apple/swift-http-types", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.2"),
        .package(url: "https://github.com/apple/swift-async-algorithms", from: "1.1.4"),
        .package(url: "https://github.com/jpsim/Yams", from: "6.2.1"),
    ],
    targets: [
        // C libraries and their façades
        .systemLibrary(name: "CLibPQ", pkgConfig: "libpq", providers: [.apt(["libpq-dev"]), .brew(["libpq"])]),
        .systemLibrary(
            name: "COpenSSL",
            pkgConfig: "libcrypto",
            providers: [.apt(["libssl-dev"]), .brew(["openssl@3"])]
        ),
        .systemLibrary(
            name: "CCrypt",
            pkgConfig: "libxcrypt",
            providers: [.apt(["libcrypt-dev"]), .brew(["libxcrypt"])]
        ),
        .systemLibrary(
            name: "CArgon2",
            pkgConfig: "libargon2",
            providers: [.apt(["libargon2-dev"]), .brew(["argon2"])]
        ),
        .systemLibrary(
            name: "CCurl",
            pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"]), .brew(["curl"])]
        ),
        .systemLibrary(name: "CPSL", pkgConfig: "libpsl", providers: [.apt(["libpsl-dev"]), .brew(["libpsl"])]),
        .target(
            name: "Postgres",
            dependencies: ["CLibPQ", "Prometheus", logging, serviceLifecycle],
            swiftSettings: facade
        ),
        .target(
            name: "SystemCrypto",
            dependencies: ["CArgon2", "CCrypt", "COpenSSL", crypto, cryptoExtras, swiftASN1, x509],
            swiftSettings: facade
        ),
        .target(
            name: "SMTPClient",
            dependencies: ["CCurl", "Secrets", "Text", nioPosix, serviceLifecycle],
            swiftSettings: facade
        ),
        .target(name: "PublicSuffixes", dependencies: ["CPSL"], swiftSettings: facade),

        // What knows nothing of the product
        .target(name: "Prometheus", swiftSettings: strict),
        .target(name: "Text", swiftSettings: strict),
        .target(name: "StrictJSON", dependencies: ["Text"], swiftSettings: strict),
        .target(name: "Requests", dependencies: ["Text"], swiftSettings: strict),
        .target(name: "Secrets", dependencies: ["Text", crypto], swiftSettings: strict),
        .target(
            name: "Outbound",
            dependencies: [
                "Requests", "Text", asyncHTTPClient, httpTypes, logging, nioCore, nioFoundation, nioHTTP1, nioPosix,
                nioSSL, serviceLifecycle,
            ],
            swiftSettings: strict
        ),

        // The domain
        .target(name: "Domain", dependencies: ["Text"], swiftSettings: strict),
        .target(
            name: "Projects",
            dependencies: ["Domain", "Passkeys", "PublicSuffixes", "Secrets", "Text"],
            swiftSettings: strict
        ),
        .target(
            name: "Passwords",
            dependencies: ["Secrets", "SystemCrypto", "Text", crypto, cryptoExtras, nioPosix, serviceLifecycle],
            swiftSettings: strict
        ),
        .target(
            name: "Passkeys",
            dependencies: [
                "Secrets", "StrictJSON", "SystemCrypto", "Text", crypto, cryptoExtras, swiftASN1, x509,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Sessions",
            dependencies: [
                "Domain", "Projects", "Secrets", "StrictJSON", "SystemCrypto", "Text", crypto, swiftASN1, x509,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "OAuth",
            dependencies: ["Domain", "Projects", "Secrets", "StrictJSON", "Text"],
            swiftSettings: strict
        ),
        .target(
            name: "Delivery",
            dependencies: [
                "Domain", "Outbound", "Passwords", "Projects", "Prometheus", "Secrets", "SMTPClient", "StrictJSON",
                "Text", crypto, httpTypes,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Federation",
            dependencies: [
                "Domain", "Outbound", "Projects", "Prometheus", "Secrets", "StrictJSON", "SystemCrypto", "Text",
                crypto,
                cryptoExtras, httpTypes, logging, swiftASN1, x509,
            ],
            swiftSettings: strict
        ),

        // The database
        .target(name: "Migrations", dependencies: ["Postgres", logging], swiftSettings: strict),
        .target(
            name: "Storage",
            dependencies: [
                "Delivery", "Domain", "Federation", "OAuth", "Passkeys", "Passwords", "Postgres", "Projects",
                "Prometheus", "Requests", "Secrets", "Sessions", "StrictJSON", "Text", asyncAlgorithms, logging,
                serviceLifecycle,
            ],
            exclude: ["Batches/Plans"],
            swiftSettings: strict
        ),

        // Use cases and HTTP
        .target(
            name: "Accounts",
            dependencies: [
                "Delivery", "Domain", "Federation", "OAuth", "Passkeys", "Passwords", "Projects", "Prometheus",
                "Requests", "Secrets", "Sessions", "SMTPClient", "Storage", "StrictJSON", "Text", asyncAlgorithms,
                logging, serviceLifecycle,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "Administration",
            dependencies: [
                "Delivery", "Domain", "Federation", "OAuth", "Passkeys", "Projects", "Secrets", "Sessions", "Storage",
                "StrictJSON", "Text", httpTypes,
            ],
            swiftSettings: strict
        ),
        .target(
            name: "IdentityService",
            dependencies: [
                "Accounts", "Administration", "Delivery", "Domain", "Federation", "OAuth", "Passkeys", "Passwords",
                "Postgres", "Projects", "Prometheus", "Requests", "Secrets", "Sessions", "Storage", "StrictJSON",
                "SystemCrypto", "Text", asyncAlgorithms, httpTypes, logging, nioCore, nioFoundation, nioHTTP1,
                nioPosix, nioSSL, nioTLS, serviceLifecycle, swiftASN1, x509,
            ],
            resources: [
                .embedInCode("Console/console.css"), .embedInCode("Pages/base.css"), .embedInCode("Pages/pages.css"),
                .embedInCode("Pages/action.js"),
                .embedInCode("Pages/Handler/gapi.js"), .embedInCode("Pages/Handler/handler.js"),
                .embedInCode("Pages/Handler/iframe.js"), .embedInCode("Pages/SignInPage/passkeys.js"),
            ],
            swiftSettings: strict
        ),

        // What only `identity dev` and the tests have
        .target(
            name: "Development",
            dependencies: [
                "Accounts", "Administration", "Delivery", "Domain", "Federation", "IdentityService", "Migrations",
                "Outbound", "Passwords", "Postgres", "Projects", "Requests", "Secrets", "Sessions", "Storage",
                "StrictJSON", "SystemCrypto", "Text", crypto, cryptoExtras, httpTypes, logging, nioCore, nioHTTP1,
                nioPosix, nioFoundation, serviceLifecycle,
            ],
            resources: [
                .embedInCode("DemoPage/demo.html"), .embedInCode("DevPage/dev.css"), .embedInCode("DevPage/dev.js"),
                .embedInCode("TestProvider/authorization.js"),
            ],
            swiftSettings: strict
        ),

        // Moving in and out
        .target(
            name: "Transfer",
            dependencies: [
                "Accounts", "Domain", "IdentityService", "Passwords", "Projects", "Secrets", "Storage", "StrictJSON",
                "Text",
            ],
            swiftSettings: strict
        ),

        // Commands and wiring
        .executableTarget(
            name: "identity",
            dependencies: [
                "Accounts", "Administration", "Delivery", "Development", "Domain", "Federation", "IdentityService",
                "Migrations", "OAuth", "Outbound", "Passwords", "Postgres", "Projects", "Requests", "Secrets",
                "Sessions", "SMTPClient", "Storage", "StrictJSON", "Text", "Transfer", argumentParser, configuration,
                httpTypes, logging, serviceLifecycle, unixSignals,
            ],
            path: "Sources/IdentityCLI",
            swiftSettings: strict,
            // Relocations take a hundredth of the room, on disk and in memory (needs glibc 2.36), and nobody loads this
            // program's 50,000 symbols by name.
            linkerSettings: [
                .unsafeFlags(
                    [
                        "-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs", "-Xlinker",
                        "--no-export-dynamic",
                    ],
                    .when(platforms: [.linux], configuration: .release)
                )
            ]
        ),

        // Tests
        .target(
            name: "TestKit",
            dependencies: [
                "Accounts", "Delivery", "Development", "Domain", "Federation", "IdentityService", "Migrations",
                "Outbound", "Passkeys", "Passwords", "Postgres", "Projects", "Secrets", "Sessions", "SMTPClient",
                "Storage", "StrictJSON", "Text", asyncHTTPClient, crypto, httpTypes, inMemoryLogging, jwtKit, logging,
                nioCore, nioFoundation, nioHTTP1, nioPosix, nioSSL, serviceLifecycle, yams,
            ],
            path: "Tests/TestKit",
            exclude: ["Mail/mail_server.py"],
            swiftSettings: tests
        ),
        .testTarget(name: "DomainTests", dependencies: ["Domain"], swiftSettings: tests),
        .testTarget(
            name: "UnitTests",
            dependencies: [
                "Delivery", "Development", "Domain", "Federation", "Migrations", "OAuth", "Outbound", "Passkeys",
                "Passwords", "Postgres", "Projects", "Requests", "Secrets", "Sessions", "SMTPClient", "Storage",
                "StrictJSON", "SystemCrypto", "TestKit", "Text", crypto, cryptoExtras, httpTypes, jwtKit, logging,
                nioCore, nioPosix, serviceLifecycle, swiftASN1, x509, yams,
            ],
            swiftSettings: tests
        ),
        .testTarget(
            name: "ServiceTests",
            dependencies: [
                "Accounts", "Administration", "Delivery", "Development", "Domain", "Federation", "IdentityService",
                "Migrations", "OAuth", "Outbound", "Passkeys", "Passwords", "Postgres", "Projects", "Secrets",
                "Sessions", "SMTPClient", "Storage", "StrictJSON", "SystemCrypto", "TestKit", "Text", "Transfer",
                asyncHTTPClient, crypto, httpTypes, inMemoryLogging, jwtKit, logging, nioCore, serviceLifecycle, x509,
                yams,
            ],
            exclude: [
                "Browser/app.html", "Console/qr_codes.tsv", "Emulator/Export", "Fuzz/Corpus", "Import/import_users.py",
                "Processes/admin_sdk.py", "Processes/front.py", "Processes/revocation_feed.py",
                "Processes/verify_tokens.py",
                "Pages/pages_in_chromium.py", "Statements/statements.tsv", "Wire/google-members.tsv",
                "Wire/sdk-error-codes.tsv",
            ],
            swiftSettings: tests
        ),
    ]
)
