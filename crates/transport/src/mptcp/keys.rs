//! Keys, tokens and message authentication (RFC 8684 sections 3.1 and 3.2).
//!
//! Keys and nonces come from the seed that the connection is given: a run must repeat, and nobody attacks it.

use sha2::{Digest, Sha256};

/// Block length of SHA-256 in bytes.
const BLOCK: usize = 64;

/// A number that depends on `seed` and what it is for, and on nothing else.
pub(super) fn derive(seed: u64, purpose: &str, index: u8) -> u64 {
    let digest =
        Sha256::new().chain_update(seed.to_be_bytes()).chain_update(purpose).chain_update([index]).finalize();
    leftmost(&digest)
}

/// Token of a key: the most significant 32 bits of its hash (RFC 8684 section 3.2).
pub(super) fn token(key: u64) -> u32 {
    (leftmost(&Sha256::digest(key.to_be_bytes())) >> 32) as u32
}

/// Initial data sequence number: the least significant 64 bits of the key's hash (RFC 8684 section 3.1).
pub(super) fn initial_data_sequence(key: u64) -> u64 {
    leftmost(&Sha256::digest(key.to_be_bytes())[24..])
}

/// What authenticates a join (RFC 8684 section 3.2): HMAC-SHA256 under the sender's key before the receiver's,
/// of the sender's nonce before the receiver's. Leftmost 160 bits.
pub(super) fn join_hmac(
    sender_key: u64,
    receiver_key: u64,
    sender_nonce: u32,
    receiver_nonce: u32,
) -> [u8; 20] {
    let mut message = [0; 8];
    message[..4].copy_from_slice(&sender_nonce.to_be_bytes());
    message[4..].copy_from_slice(&receiver_nonce.to_be_bytes());
    let mut leftmost = [0; 20];
    leftmost.copy_from_slice(&hmac_sha256(&both(sender_key, receiver_key), &message)[..20]);
    leftmost
}

/// What authenticates an ADD_ADDR (RFC 8684 section 3.4.1): HMAC-SHA256 under the key of the end that announces before
/// the other's, of the address's identifier, the address and its port, which is 0 without one. Rightmost 64 bits.
pub(super) fn address_hmac(sender_key: u64, receiver_key: u64, address_id: u8, address: [u8; 4]) -> u64 {
    let [a, b, c, d] = address;
    leftmost(&hmac_sha256(&both(sender_key, receiver_key), &[address_id, a, b, c, d, 0, 0])[24..])
}

/// The keys of the sender and of the receiver of an option, in this order.
fn both(sender_key: u64, receiver_key: u64) -> [u8; 16] {
    (u128::from(sender_key) << 64 | u128::from(receiver_key)).to_be_bytes()
}

/// Leftmost 64 bits of big-endian bytes.
pub(super) fn leftmost(bytes: &[u8]) -> u64 {
    bytes.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
}

/// HMAC (RFC 2104 section 2) with SHA-256, for keys of at most a block.
fn hmac_sha256(key: &[u8], message: &[u8]) -> [u8; 32] {
    debug_assert!(key.len() <= BLOCK);
    let (mut inner, mut outer) = ([0x36; BLOCK], [0x5C; BLOCK]);
    for ((inner, outer), byte) in inner.iter_mut().zip(&mut outer).zip(key) {
        *inner ^= byte;
        *outer ^= byte;
    }
    let digest = Sha256::new().chain_update(inner).chain_update(message).finalize();
    Sha256::new().chain_update(outer).chain_update(digest).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// RFC 4231 section 4.2 (test case 1) and 4.3 (test case 2).
    #[test]
    fn hmac_agrees_with_rfc_4231() {
        assert_eq!(
            hex(&hmac_sha256(&[0x0B; 20], b"Hi There")),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        );
        assert_eq!(
            hex(&hmac_sha256(b"Jefe", b"what do ya want for nothing?")),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    /// RFC 8684 section 3.4.1, for 192.0.2.7 with identifier 5: the end of what Python's `hmac` makes of it with SHA-256.
    #[test]
    fn addresses_are_authenticated_by_the_right_end_of_the_hash() {
        let hmac = address_hmac(0x0102_0304_0506_0708, 0x1112_1314_1516_1718, 5, [192, 0, 2, 7]);
        assert_eq!(format!("{hmac:016x}"), "45b15d88d487ac23");
    }

    /// Both halves of one hash: SHA-256 of eight zero bytes, as any sha256sum prints it.
    #[test]
    fn token_and_initial_sequence_are_the_ends_of_the_hash() {
        let hash = "af5570f5a1810b7af78caf4bc70a660f0df51e42baf91d4de5b2328de0e83dfc";
        assert_eq!(format!("{:08x}", token(0)), hash[..8]);
        assert_eq!(format!("{:016x}", initial_data_sequence(0)), hash[48..]);
    }
}
