"""PyPI's `fido2` and `webauthn`, as judges of a response."""


from cryptography.hazmat.primitives import serialization
from fido2.attestation import AttestationVerifier, NoneAttestation, PackedAttestation
from fido2.cose import CoseKey
from fido2.server import Fido2Server
from fido2.webauthn import AttestedCredentialData, PublicKeyCredentialRpEntity
from webauthn import verify_authentication_response, verify_registration_response
from webauthn.helpers.cose import COSEAlgorithmIdentifier
from webauthn.helpers.structs import AttestationFormat, CredentialDeviceType

from authenticator import ORIGINS, RP_ID, b64, der
from fido2 import cbor


def wire(id, response):
    return {
        "id": b64(id), "rawId": b64(id), "type": "public-key",
        "response": {name: b64(value) for name, value in response.items()},
    }


class Fido2:
    """Yubico's library, which trusts the test's root for certificates and accepts passkeys without."""

    name = "fido2"

    class Verifier(AttestationVerifier):
        def __init__(self, root):
            super().__init__([NoneAttestation(), PackedAttestation()])
            self.root = root

        def ca_lookup(self, result, data):
            return self.root

    def __init__(self, manufacturer):
        root = der(manufacturer.root.certificate)
        self.server = Fido2Server(
            PublicKeyCredentialRpEntity(id=RP_ID, name="Example"), attestation="direct",
            verify_origin=lambda origin: origin in ORIGINS, verify_attestation=self.Verifier(root),
        )
        self.server.allowed_algorithms = [
            parameters for parameters in self.server.allowed_algorithms if parameters.alg in (-7, -8, -257)
        ]

    @staticmethod
    def state(draft):
        return {
            "challenge": b64(draft.challenge),
            "user_verification": "required" if draft.requires_uv else "preferred",
        }

    def registration(self, draft, response):
        self.server.register_complete(self.state(draft), wire(draft.id, response))

    def assertion(self, draft, response):
        credential = draft.credential
        stored = AttestedCredentialData.create(bytes(16), credential.id, CoseKey.parse(credential.key.cose))
        self.server.authenticate_complete(self.state(draft), [stored], wire(draft.id, response))


class WebAuthn:
    """Duo's library, which also says what it found."""

    name = "webauthn"
    algorithms = [COSEAlgorithmIdentifier(alg) for alg in (-7, -8, -257)]

    def __init__(self, manufacturer):
        pem = manufacturer.root.certificate.public_bytes(serialization.Encoding.PEM)
        self.roots = {AttestationFormat.PACKED: [pem]}

    def registration(self, draft, response):
        found = verify_registration_response(
            credential=wire(draft.id, response), expected_challenge=draft.challenge, expected_rp_id=RP_ID,
            expected_origin=ORIGINS, require_user_verification=draft.requires_uv,
            supported_pub_key_algs=self.algorithms, pem_root_certs_bytes_by_fmt=self.roots,
        )
        return {
            "id": found.credential_id.hex(), "signCount": found.sign_count, "aaguid": found.aaguid,
            **self.flags(found),
        }

    def assertion(self, draft, response):
        found = verify_authentication_response(
            credential=wire(draft.id, response), expected_challenge=draft.challenge, expected_rp_id=RP_ID,
            expected_origin=ORIGINS, credential_public_key=cbor.encode(draft.credential.key.cose),
            credential_current_sign_count=draft.credential.count, require_user_verification=draft.requires_uv,
        )
        return {"id": found.credential_id.hex(), "signCount": found.new_sign_count, **self.flags(found)}

    @staticmethod
    def flags(found):
        return {
            "isUserVerified": found.user_verified,
            "isBackupEligible": found.credential_device_type == CredentialDeviceType.MULTI_DEVICE,
            "isBackedUp": found.credential_backed_up,
        }
