#include "outfile.h"
