// What goes wrong is said once on stderr and kept as the text of aclGetRecentErrMsg.
#pragma once

#include <string>

namespace skhost {

// "[kernel AIV block 0.1 (GetBlockIdx=1)] ", inside a super kernel "[super:sub AIV ...] "; empty on the host.
std::string describeCore();

void printError(const std::string &text);
// Once for each kernel and text, however many cores or launches say it.
void printWarning(const std::string &kernel, const std::string &place, const std::string &text);

}  // namespace skhost

// How many different warnings this process has had.
extern "C" unsigned long skrules_host_warning_count();
