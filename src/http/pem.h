// PEM texts as OpenSSL objects, for both ends of a TLS connection.
//
// Every failure throws std::runtime_error that says which text is at fault, as these run inside
// callbacks of libraries that report failures so.
#pragma once

#include <openssl/ssl.h>

#include <string>

namespace cdom::http {

// `pem` when it is set, else the content of `file`; empty when both are.
std::string pem_text(const std::string& pem, const std::string& file, const char* what);

// Makes `context` trust exactly the certificates in `pem`, and what they have signed. One that
// cannot be read is passed over; all of them is a failure.
void trust_only(SSL_CTX* context, const std::string& pem, const char* what);

// Makes `context` show the certificate chain in `certificate`, with its private key.
void use_identity(SSL_CTX* context, const std::string& certificate, const std::string& key,
                  const char* what);

}  // namespace cdom::http
