#include "imex/stand_in/credentials.h"

#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include <cstdio>
#include <vector>

#include "compute_domain/base/text.h"

namespace cdom::stand_in {

using base::cat;

namespace {

using Bytes = std::vector<unsigned char>;

std::string base64(const Bytes& bytes) {
  std::string text(4 * ((bytes.size() + 2) / 3) + 1, '\0');
  const int size = EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), bytes.data(),
                                   static_cast<int>(bytes.size()));
  text.resize(static_cast<std::size_t>(size));
  return text;
}

Bytes from_base64(const std::string& text) {
  Bytes bytes(text.size());
  const int size =
      EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()),
                      static_cast<int>(text.size()));
  std::size_t padding = 0;
  while (padding < text.size() && text[text.size() - 1 - padding] == '=') ++padding;
  bytes.resize(size < 0 ? 0 : static_cast<std::size_t>(size) - padding);
  return bytes;
}

template <class T, class Read>
T* read_pem(const std::string& path, Read read) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return nullptr;
  T* one = read(file, nullptr, nullptr, nullptr);
  std::fclose(file);
  return one;
}

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

std::string Credentials::read(const IdentityFiles& files, Material& material) {
  material.key.reset(read_pem<EVP_PKEY>(files.key, PEM_read_PrivateKey));
  material.certificate.reset(read_pem<X509>(files.certificate, PEM_read_X509));
  material.authority.reset(read_pem<X509>(files.authority, PEM_read_X509));
  if (!material.key) return cat("cannot read the key ", files.key);
  if (!material.certificate) return cat("cannot read the certificate ", files.certificate);
  if (!material.authority) return cat("cannot read the authority ", files.authority);
  if (X509_check_private_key(material.certificate.get(), material.key.get()) != 1) {
    return "the key is not the certificate's";
  }
  return "";
}

std::string Credentials::read_all(Material& client, Material& server) const {
  const Parameters& p = parameters_;
  if (p.authentication_mode != "SSL_TLS") return "IMEX_AUTH_ENCRYPTION_MODE is not supported";
  if (p.authentication_source != "FILE") return "IMEX_AUTH_SOURCE is not supported";
  const std::string fault = read(p.client, client);
  return fault.empty() ? read(p.server, server) : fault;
}

Credentials::Credentials(const Parameters& parameters) : parameters_(parameters) {
  if (!parameters.has_authentication) return;
  if (const std::string fault = read_all(client_, server_); !fault.empty()) end_with(fault);
}

void Credentials::reload() {
  if (!parameters_.has_authentication) return;
  Material client, server;
  if (!read_all(client, server).empty()) return;
  client_ = std::move(client);
  server_ = std::move(server);
}

std::string Credentials::proof_of(const std::string& instance, Role own) const {
  if (!parameters_.has_authentication) return "-";
  const Material& material = of(own);
  unsigned char* der = nullptr;
  const int size = i2d_X509(material.certificate.get(), &der);
  const Bytes certificate(der, der + size);
  OPENSSL_free(der);
  const std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>> context(EVP_MD_CTX_new());
  EVP_DigestSignInit(context.get(), nullptr, EVP_sha256(), nullptr, material.key.get());
  std::size_t length = 0;
  EVP_DigestSign(context.get(), nullptr, &length, bytes_of(instance), instance.size());
  Bytes signature(length);
  EVP_DigestSign(context.get(), signature.data(), &length, bytes_of(instance), instance.size());
  signature.resize(length);
  return cat(base64(certificate), ".", base64(signature));
}

std::string Credentials::fault_of(const std::string& proof, const std::string& instance,
                                  Role own) const {
  if (!parameters_.has_authentication) return proof == "-" ? "" : "it wants to be authenticated";
  const std::size_t dot = proof.find('.');
  if (dot == std::string::npos) return "it shows no certificate";
  const Bytes der = from_base64(proof.substr(0, dot)),
              signature = from_base64(proof.substr(dot + 1));
  const unsigned char* at = der.data();
  const Certificate certificate(d2i_X509(nullptr, &at, static_cast<long>(der.size())));
  if (!certificate) return "its certificate cannot be read";
  const Key issuer(X509_get_pubkey(of(own).authority.get()));
  if (X509_verify(certificate.get(), issuer.get()) != 1) {
    return "its certificate is of another authority";
  }
  if (!parameters_.target_name.empty() &&
      X509_check_host(certificate.get(), parameters_.target_name.data(),
                      parameters_.target_name.size(), 0, nullptr) != 1) {
    return cat("its certificate is not for ", parameters_.target_name);
  }
  const Key key(X509_get_pubkey(certificate.get()));
  const std::unique_ptr<EVP_MD_CTX, Freed<EVP_MD_CTX_free>> context(EVP_MD_CTX_new());
  EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get());
  const bool is_its_own = EVP_DigestVerify(context.get(), signature.data(), signature.size(),
                                           bytes_of(instance), instance.size()) == 1;
  return is_its_own ? "" : "the certificate is not its own";
}

}  // namespace cdom::stand_in
