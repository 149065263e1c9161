/// Certificates that openssl makes, each its own authority.
package enum TestCertificate {
    /// Makes `certificate.pem` and `key.pem` in a folder that is there.
    ///
    /// - Parameter days: until it ends.
    package static func make(for name: String = "localhost", in folder: String, days: Int = 30) async throws {
        let script = """
            openssl req -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -noenc -subj "/CN=$NAME" \
                -addext "subjectAltName=DNS:$NAME" -addext basicConstraints=critical,CA:TRUE \
                -keyout key.pem -out request.pem
            openssl x509 -req -in request.pem -signkey key.pem -days "$DAYS" -copy_extensions copy -out certificate.pem
            """
        let result = try await Program.run(
            "/bin/bash",
            ["-euc", "cd \"$FOLDER\"\n\(script)"],
            environment: ["NAME": name, "DAYS": "\(days)", "FOLDER": folder]
        )
        guard result.status == 0 else { throw ProgramEnded(result: result) }
    }
}
