#pragma once
#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

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

static inline CURLcode ccurl_set_watching(CURL *curl, curl_debug_callback function, void *context) {
    CURLcode code = curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, function);
    if (code == CURLE_OK) code = curl_easy_setopt(curl, CURLOPT_DEBUGDATA, context);
    return code == CURLE_OK ? curl_easy_setopt(curl, CURLOPT_VERBOSE, 1L) : code;
}

static inline long ccurl_response_code(CURL *curl) {
    long code = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &code);
    return code;
}
