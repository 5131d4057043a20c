package analysis

// SyncBeforeAck is the setting by which a trace of system calls says whether
// commits are synced before they are acknowledged.
const SyncBeforeAck = "sync-before-ack"
