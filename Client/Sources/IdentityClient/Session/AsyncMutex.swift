/// Lets one task at a time into a section that awaits, in the order of arrival.
actor AsyncMutex {
    private var isHeld = false
    private var waiting: [CheckedContinuation<Void, Never>] = []

    func acquire() async {
        guard isHeld else {
            isHeld = true
            return
        }
        await withCheckedContinuation { waiting.append($0) }
    }

    /// Hands the section to the task that waits longest.
    func release() {
        guard waiting.isEmpty else { return waiting.removeFirst().resume() }
        isHeld = false
    }
}
