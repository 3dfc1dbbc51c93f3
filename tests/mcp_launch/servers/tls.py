"""Certificates of a test authority, for a server on loopback and for a client."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

HERE = (x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1")))


@dataclass(frozen=True, kw_only=True)
class Certificates:
    """Paths of certificates."""

    authority: str
    server: str
    """The server's certificate with its key."""
    expired: str
    """The same, expired the day before yesterday."""
    loose: str
    """The same, without the identifier of the key that signed it."""
    elsewhere: str
    """The same, for another host."""
    client: str
    client_key: str
    """The client's key, encrypted."""

    def serving(self, certificate: str | None = None, *, asks_client: bool = False) -> ssl.SSLContext:
        """Return a context for a server, with the valid certificate by default."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate or self.server)
        if asks_client:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(self.authority)
        return context


def certificates(folder: Path, *, password: str) -> Certificates:
    """Write the certificates. The client's key is encrypted with the password."""
    authority_key = ec.generate_private_key(ec.SECP256R1())
    authority_id = x509.AuthorityKeyIdentifier.from_issuer_public_key(authority_key.public_key())
    issuer = _name("an authority of our own")

    def issue(
        name: x509.Name,
        key: ec.EllipticCurvePrivateKey,
        *,
        is_authority: bool = False,
        is_loose: bool = False,
        age: timedelta = timedelta(),
        hosts: Sequence[x509.GeneralName] = HERE,
    ) -> bytes:
        now = datetime.now(UTC) - age
        builder = x509.CertificateBuilder(
            issuer_name=issuer,
            subject_name=name,
            public_key=key.public_key(),
            serial_number=x509.random_serial_number(),
            not_valid_before=now - timedelta(days=1),
            not_valid_after=now + timedelta(days=1),
        )
        builder = builder.add_extension(x509.BasicConstraints(ca=is_authority, path_length=None), critical=True)
        builder = builder.add_extension(x509.SubjectAlternativeName(hosts), critical=False)
        # What follows Python asks for from 3.13 on.
        builder = builder.add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        if not is_loose:
            builder = builder.add_extension(authority_id, critical=False)
        if is_authority:
            builder = builder.add_extension(_SIGNS, critical=True)
        return builder.sign(authority_key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)

    def write(name: str, *parts: bytes) -> str:
        (folder / name).write_bytes(b"".join(parts))
        return str(folder / name)

    def write_server(name: str, **differs: Any) -> str:
        return write(f"{name}.pem", issue(_name("server"), server_key, **differs), _pem(server_key, None))

    server_key, client_key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    return Certificates(
        authority=write("authority.pem", issue(issuer, authority_key, is_authority=True)),
        server=write_server("server"),
        expired=write_server("expired", age=timedelta(days=2)),
        loose=write_server("loose", is_loose=True),
        elsewhere=write_server("elsewhere", hosts=[x509.DNSName("elsewhere.example")]),
        client=write("client.pem", issue(_name("client"), client_key)),
        client_key=write("client.key", _pem(client_key, password)),
    )


_SIGNS = x509.KeyUsage(
    key_cert_sign=True,
    crl_sign=True,
    digital_signature=False,
    content_commitment=False,
    key_encipherment=False,
    data_encipherment=False,
    key_agreement=False,
    encipher_only=False,
    decipher_only=False,
)


def _name(common: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common)])


def _pem(key: ec.EllipticCurvePrivateKey, password: str | None) -> bytes:
    encryption = serialization.BestAvailableEncryption(password.encode()) if password else serialization.NoEncryption()
    return key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, encryption)
