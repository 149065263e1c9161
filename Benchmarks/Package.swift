// swift-tools-version: 6.2
import PackageDescription

/// Programs of the benchmarks, apart from the service: its image and package are built without them.
let package = Package(
    name: "identity-benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [
        .package(url: "https://github.com/apple/swift-crypto", from: "4.5.0"),
        .package(url: "https://github.com/swift-server/async-http-client", from: "1.33.1"),
    ],
    targets: [
        .executableTarget(
            name: "bench-floor",
            dependencies: [
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "Crypto", package: "swift-crypto"),
                .product(name: "CryptoExtras", package: "swift-crypto"),
            ],
            path: "Floor",
            swiftSettings: [.treatAllWarnings(as: .error)]
        )
    ]
)
