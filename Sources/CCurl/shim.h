#pragma once
#include <stdbool.h>
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <sys/socket.h>

// Variadic functions of libcurl, one for each type that they take.

static inline CURLcode ccurl_start(void) { return curl_global_init(CURL_GLOBAL_DEFAULT); }

static inline CURLcode ccurl_set_number(CURL *curl, CURLoption option, long number) {
    return curl_easy_setopt(curl, option, number);
}

static inline CURLcode ccurl_set_text(CURL *curl, CURLoption option, const char *text) {
    return curl_easy_setopt(curl, option, text);
}

static inline CURLcode ccurl_set_list(CURL *curl, CURLoption option, struct curl_slist *list) {
    return curl_easy_setopt(curl, option, list);
}

static inline CURLcode ccurl_set_reading(CURL *curl, curl_read_callback function, void *context) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_READFUNCTION, function);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_READDATA, context) : code;
}

static inline CURLcode ccurl_set_writing(CURL *curl, curl_write_callback function) {
    return curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, function);
}

/// libcurl calls it about once a second while it waits; a number other than 0 ends the transfer.
static inline CURLcode ccurl_set_waiting(CURL *curl, curl_xferinfo_callback function, void *context) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, function);
    if (code == CURLE_OK) code = curl_easy_setopt(curl, CURLOPT_XFERINFODATA, context);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L) : code;
}

/// Whether a connection was made to the server, in the transfer in progress or the last one.
static inline bool ccurl_has_connected(CURL *curl) {
    curl_off_t microseconds = 0;
    curl_easy_getinfo(curl, CURLINFO_CONNECT_TIME_T, &microseconds);
    return microseconds > 0;
}

/// Whether OpenSSL found nothing wrong with the server's certificate; libcurl itself compares the name, and before it does,
/// the result is 1.
static inline bool ccurl_trusts(CURL *curl) {
    long result = 0;
    curl_easy_getinfo(curl, CURLINFO_SSL_VERIFYRESULT, &result);
    return result == 0 || result == 1;
}

/// Whether the last transfer used a connection of an earlier one.
static inline bool ccurl_has_reused(CURL *curl) {
    long connections = 0;
    curl_easy_getinfo(curl, CURLINFO_NUM_CONNECTS, &connections);
    return connections == 0;
}

/// Closes the connection, without waiting for what the server has to say about it.
static inline void ccurl_end(CURL *curl) {
    curl_socket_t socket = CURL_SOCKET_BAD;
    if (curl_easy_getinfo(curl, CURLINFO_ACTIVESOCKET, &socket) == CURLE_OK && socket != CURL_SOCKET_BAD)
        shutdown(socket, SHUT_RD);
    curl_easy_cleanup(curl);
}

static inline CURLcode ccurl_set_watching(CURL *curl, curl_debug_callback function, void *context) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, function);
    if (code == CURLE_OK) code = curl_easy_setopt(curl, CURLOPT_DEBUGDATA, context);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_VERBOSE, 1L) : code;
}
