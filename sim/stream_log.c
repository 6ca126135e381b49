#include "stream_log.h"
